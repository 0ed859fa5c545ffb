package main

import (
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"skep/node/api/client"
	"skep/node/api/v1"
)

// ready waits until a node answers in a folder: ready DIR.
func ready(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ready DIR")
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
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

// code runs a command and wants an exit code: code 3 skep run -- sh -c 'exit 3'. What it prints can be
// compared as after exec.
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

// token sets a variable to what a file holds: token VAR [FILE], the file being named token.
func token(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: token VAR [FILE]")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(append(args[1:], "token")[0])))
}

// connected waits until a node sees another one connected: connected DIR NAME.
func connected(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: connected DIR NAME")
	}
	c, err := client.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer c.Close()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if n, err := c.Node(context.Background(), args[1]); err == nil && n.State == v1.NodeConnected {
			return
		}
	}
	ts.Fatalf("%s is not connected to %s", args[1], args[0])
}
