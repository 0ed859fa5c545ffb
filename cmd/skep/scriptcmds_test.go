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

	"skep/grid"
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

// wrong runs skep with a wrong command line and checks that the answer is one line on the error stream, that it
// matches, and that the exit code is not 0: wrong REGEXP ARGS.
func wrong(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: wrong REGEXP ARGS")
	}
	err := ts.Exec("skep", args[1:]...)
	said, line := ts.ReadFile("stderr"), strings.Join(args[1:], " ")
	switch {
	case err == nil:
		ts.Fatalf("skep %s: exit code 0", line)
	case ts.ReadFile("stdout") != "":
		ts.Fatalf("skep %s: prints on the standard output", line)
	case strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "skep: "):
		ts.Fatalf("skep %s: says %q: want one line that begins with skep:", line, said)
	case !regexp.MustCompile(args[0]).MatchString(said):
		ts.Fatalf("skep %s: says %q: want %s", line, said, args[0])
	}
}

// pythonJob runs the example in Python, where tasks see a python3, and says so where they do not.
func pythonJob(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: pythonjob")
	}
	if err := ts.Exec("skep", "run", "--", "python3", "-c", "pass"); err != nil {
		ts.Logf("not run: tasks see no python3 here: %s", strings.TrimSpace(ts.ReadFile("stderr")))
		return
	}
	ts.Check(ts.Exec("sh", "examples/python/run.sh"))
	const want = "360 = 2 * 2 * 2 * 3 * 3 * 5\n1001 = 7 * 11 * 13\n65537 = 65537\n600851475143 = 71 * 839 * 1471 * 6857\n"
	if got := ts.ReadFile("stdout"); got != want {
		ts.Fatalf("the example in Python prints %q: want %q", got, want)
	}
}

// exposed sets a variable to a new folder that nodes of the script show their tasks: exposed VAR.
func exposed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: exposed VAR")
	}
	dir := ts.MkAbs("exposed")
	if isolation() == grid.IsolationNone {
		ts.Check(os.Mkdir(dir, 0o777))
	} else { // in a box, each task has a /tmp of its own
		cache, err := os.UserCacheDir()
		ts.Check(err)
		ts.Check(os.MkdirAll(cache, 0o700))
		dir, err = os.MkdirTemp(cache, "skep-test-")
		ts.Check(err)
		ts.Defer(func() { _ = os.RemoveAll(dir) })
		ts.Setenv("SKEP_EXPOSE", dir+":rw")
	}
	ts.Check(os.Chmod(dir, os.ModeSticky|0o777))
	ts.Setenv(args[0], dir)
}

// hasPrinted waits until a job has printed a text: printed JOB TEXT.
func hasPrinted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: printed JOB TEXT")
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ts.Exec("skep", "job", "logs", args[0]) == nil && strings.Contains(ts.ReadFile("stdout"), args[1]) {
			return
		}
	}
	ts.Fatalf("%s has not printed %q", args[0], args[1])
}

// eventually runs a command until it succeeds: eventually CMD ARGS.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: eventually CMD ARGS")
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		err := ts.Exec(args[0], args[1:]...)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%s: %v: %s", strings.Join(args, " "), err, ts.ReadFile("stderr"))
		}
	}
}

// waits waits until the newest job of the node in a folder has a task that waits for a reason: waits DIR TEXT.
func waits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waits DIR TEXT")
	}
	c, err := client.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer c.Close()
	found := false
	for end := time.Now().Add(time.Minute); !found && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		ts.Check(c.EachTask(context.Background(), "last", func(t *v1.Task) error {
			found = found || t.Waits != nil && strings.Contains(t.Waits.Detail, args[1])
			return nil
		}))
	}
	if !found {
		ts.Fatalf("no task waits for %s", args[1])
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
