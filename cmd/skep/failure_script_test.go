package main

import (
	"context"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"skep/node/api/client"
)

// failed waits until a task of the newest job of a node has failed and is to be run again: failed DIR.
func failed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: failed DIR")
	}
	c, err := client.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer c.Close()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if j, err := c.Job(context.Background(), "last"); err == nil && j.Retried > 0 {
			return
		}
	}
	ts.Fatalf("no task of the newest job has failed")
}
