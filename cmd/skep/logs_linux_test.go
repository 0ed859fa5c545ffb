package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// If the only worker with the output of a task so far is lost or does not answer, the exit code is 125 and the task is
// named, and the other task's output is printed.
func TestUnavailableOutputIsReported(t *testing.T) {
	for name, leave := range map[string]func(*member){
		"killed": (*member).kill,
		"paused": func(m *member) {
			_ = m.cmd.Process.Signal(syscall.SIGSTOP)
			until(t, "the node stands still", func() bool {
				stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.cmd.Process.Pid))
				return err == nil && strings.Contains(string(stat), ") T ")
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "paused" && testing.Short() {
				t.Skip("a node that does not answer is waited for")
			}
			t.Parallel()
			dir, expose := sharedFolder(t)
			origin := startMember(t, "skep", "", "--name", "origin")
			worker := startMember(t, "skep", origin.join, append(expose, "--name", "birch", "--label", "side=b")...)
			defer func() { _ = worker.cmd.Process.Signal(syscall.SIGCONT) }()
			begun := dir + "/begun"
			origin.run(t, "", "run", "--detach", "--label", "side=b", "--count", "2", "--cpu", "0.1", "--", "sh", "-c",
				"echo task $SKEP_INDEX; [ $SKEP_INDEX = 0 ] || { touch '"+begun+"'; exec sleep 60; }")
			until(t, "one has ended and one prints", func() bool {
				d := origin.describe(t, "last")
				return exists(begun) && d.Tasks[0].State == "ended" && d.Tasks[1].State == "placed"
			})
			if got := origin.run(t, "", "job", "logs", "last"); got != "task 0\ntask 1\n" {
				t.Errorf("job logs printed %q: want what both have printed", got)
			}
			leave(worker)
			c := origin.begin(t, "job", "logs", "last")
			code := c.end(t)
			if said := c.err.String(); code != 125 || c.out.String() != "task 0\n" || strings.Count(said, "\n") != 1 ||
				!strings.Contains(said, "task 1: its output cannot be had now from node birch (") {
				t.Errorf("job logs ended with %d, printed %q and said %q: want 125, task 0, and one line about task 1 and birch",
					code, &c.out, said)
			}
			if code := origin.begin(t, "job", "logs", "last/0").end(t); code != 0 {
				t.Errorf("the logs of the task whose output is here ended with %d", code)
			}
		})
	}
}
