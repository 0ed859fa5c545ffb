package main

import (
	"os"
	"strings"
	"testing"
)

// A task that was cancelled and does not listen keeps its core until it is killed: what comes next does not run beside it.
func TestWhatIsStoppedKeepsItsCoreUntilItIsGone(t *testing.T) {
	t.Parallel()
	m := startMember(t, "skep", "", "--cpus", "1")
	pid := t.TempDir() + "/pid"
	c := m.begin(t, "run", "--", "sh", "-c", `trap "" TERM; echo $$ >`+pid+`.new; mv `+pid+`.new `+pid+`; while :; do sleep 0.05; done`)
	until(t, "it runs", func() bool { return exists(pid) })
	m.run(t, "", "job", "cancel", "last")
	b, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	if out := m.run(t, "", "run", "--", "sh", "-c", "[ -d /proc/"+strings.TrimSpace(string(b))+" ] && echo beside || echo alone"); out != "alone\n" {
		t.Errorf("the next task runs %s it", strings.TrimSpace(out))
	}
	if code := c.end(t); code != 130 && code != 143 {
		t.Errorf("the cancelled one ended with %d", code)
	}
}
