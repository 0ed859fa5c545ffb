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
