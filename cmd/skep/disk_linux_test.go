package main

import (
	"strings"
	"testing"
	"time"
)

// A node with less free space than its reserve takes no tasks and says why; what is submitted to it runs elsewhere.
func TestAFullDiskTakesNoTasks(t *testing.T) {
	full := startMember(t, "skep", "", "--name", "full", "--disk-reserve", "1000000GiB")
	until(t, "the node says so", func() bool {
		return strings.Contains(full.run(t, "", "node", "list"), "self (its disk is nearly full)")
	})
	if d := full.run(t, "", "node", "describe", "self"); !strings.Contains(d, "its disk is nearly full") {
		t.Errorf("describe says\n%s", d)
	}
	id := strings.TrimSpace(full.run(t, "command: [hostname]\nwait: true\n", "job", "submit", "-"))
	until(t, "the job says why it waits", func() bool {
		return strings.Contains(full.run(t, "", "job", "explain", id), "its disk is nearly full")
	})
	startMember(t, "skep", full.join, "--name", "empty")
	began := time.Now()
	full.run(t, "", "job", "wait", id, "--timeout", "40s")
	if where := full.describe(t, id).Tasks[0].Name; where != "empty" {
		t.Errorf("it ran at %s after %v", where, time.Since(began))
	}
}
