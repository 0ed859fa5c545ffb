package main

import (
	"strings"
	"testing"
)

// A cancelled task that ignores signals keeps its core until it is killed: the next task does not run beside it.
func TestStoppingTaskKeepsItsCore(t *testing.T) {
	t.Parallel()
	dir, expose := sharedFolder(t, "lock")
	m := startMember(t, "skep", "", append(expose, "--cpus", "1")...)
	// A lock is held for as long as a process of the task lives; a task cannot see processes of others.
	c := m.begin(t, "run", "--", "sh", "-c",
		`trap "" TERM; exec 9>>'`+dir+`/lock'; flock 9; touch '`+dir+`/begun'; while :; do sleep 0.05; done`)
	until(t, "it runs", func() bool { return exists(dir + "/begun") })
	m.run(t, "", "job", "cancel", "last")
	if out := m.run(t, "", "run", "--", "sh", "-c",
		"flock --nonblock '"+dir+"/lock' echo alone || echo beside"); out != "alone\n" {
		t.Errorf("the next task runs %s it", strings.TrimSpace(out))
	}
	if code := c.end(t); code != 130 && code != 143 {
		t.Errorf("the cancelled one ended with %d", code)
	}
}
