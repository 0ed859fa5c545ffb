package main

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.etcd.io/bbolt"

	"skep/node/api/client"
	"skep/node/api/v1"
	"skep/node/p2p/store"
)

// ready waits until the node in a folder answers: ready DIR.
func ready(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ready DIR")
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c, err := client.Open(ts.MkAbs(args[0]))
		if err == nil {
			err = c.Healthy(context.Background())
			c.Close()
		}
		if err == nil {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("no node answers in %s: %v", args[0], err)
		}
	}
}

// code runs a command and checks its exit code: code 3 skep run -- sh -c 'exit 3'. Its output can be compared as after
// exec.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N CMD ARGS")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%s: %v", strings.Join(args[1:], " "), err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("%s: exit code %d: want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// token sets a variable to the content of a file: token VAR [FILE], by default the file token.
func token(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: token VAR [FILE]")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(append(args[1:], "token")[0])))
}

// connected waits until a node is connected to another one: connected DIR NAME.
func connected(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: connected DIR NAME")
	}
	c, err := client.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer c.Close()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if n, err := c.Node(context.Background(), args[1]); err == nil && n.State == v1.NodeConnected {
			return
		}
	}
	ts.Fatalf("%s is not connected to %s", args[1], args[0])
}

// port sets a variable to the first TCP port in a file: port VAR FILE.
func port(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: port VAR FILE")
	}
	m := regexp.MustCompile(`/tcp/([0-9]+)`).FindStringSubmatch(ts.ReadFile(args[1]))
	if m == nil {
		ts.Fatalf("%s: has no port", args[1])
	}
	ts.Setenv(args[0], m[1])
}

// nodeID sets a variable to the ID in a node's JSON description on standard output: nodeid VAR.
func nodeID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: nodeid VAR")
	}
	m := regexp.MustCompile(`"id": "([a-z2-7]{52})"`).FindStringSubmatch(ts.ReadFile("stdout"))
	if m == nil {
		ts.Fatalf("no ID was printed")
	}
	ts.Setenv(args[0], m[1])
}

// cut sets a variable to the file token without its last characters: cut VAR N.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cut VAR N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	s := strings.TrimSpace(ts.ReadFile("token"))
	ts.Setenv(args[0], s[:len(s)-n])
}

// newer marks a data folder as written by a later version: newer DIR.
func newer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: newer DIR")
	}
	db, err := bbolt.Open(filepath.Join(ts.MkAbs(args[0]), store.File), 0o600, nil)
	ts.Check(err)
	defer db.Close()
	ts.Check(db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("meta")).Put([]byte("format"), binary.BigEndian.AppendUint64(nil, 99))
	}))
}

// spoil writes a remote URL with another hash of the certificate: spoil FROM TO.
func spoil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: spoil FROM TO")
	}
	text := regexp.MustCompile(`sha256=[0-9a-f]{8}`).ReplaceAllString(ts.ReadFile(args[0]), "sha256=01234567")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}
