package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize/english"

	"skep/cmd/skep/arrays"
	"skep/grid"
	v1 "skep/node/api/v1"
)

// taskReporter reports how tasks ended. Of the cancelled ones it names the first and counts the others.
type taskReporter struct {
	*app
	cancelled int
	array     *v1.Array // of the job; nil = none
}

// taskName returns a task's index, with its values if it has any.
func taskName(t *v1.Task, array *v1.Array) string {
	if values := arrays.Text(arrays.Of(t, array)); values != "" {
		return fmt.Sprintf("task %d (%s)", t.Index, values)
	}
	return fmt.Sprintf("task %d", t.Index)
}

// flush prints the count of cancelled tasks.
func (a *taskReporter) flush() {
	if a.cancelled > 1 {
		fmt.Fprintf(a.err, "skep: and %s cancelled\n", english.Plural(a.cancelled-1, "more task was", "more tasks were"))
	}
}

// reportFailures prints after which ends a task was run again.
func (a *taskReporter) reportFailures(t *v1.Task) {
	for k := range t.Failures {
		fmt.Fprintf(a.err, "skep: %s: %s\n", taskName(t, a.array), failureText(&t.Failures[k]))
	}
}

// report prints what the program itself could not: why it did not run or did not end by itself, or which output was
// dropped.
func (a *taskReporter) report(e *v1.Event) {
	res := e.Task.Result
	if res.Cause == grid.Cancelled.String() {
		if a.cancelled++; a.cancelled > 1 {
			return
		}
	}
	switch res.Cause {
	case grid.Exited.String():
		if res.Error == "" {
			return
		}
	case grid.Signaled.String():
		if res.Error == "" || strings.HasPrefix(res.Error, "killed by signal") { // the exit code says the same
			return
		}
	}
	text := causeText(res)
	if len(e.Why) > 0 { // the reasons follow, one for each node
		text = "nobody can run it"
	}
	fmt.Fprintf(a.err, "skep: %s: %s\n", taskName(e.Task, a.array), text)
	for _, w := range e.Why {
		fmt.Fprintf(a.err, "  %s\n", w)
	}
}

// causeText returns why a program did not end by itself.
func causeText(res *v1.Result) string {
	text := strings.ReplaceAll(res.Cause, "_", " ")
	switch {
	case res.Error == "":
		return text
	case res.Cause == grid.Exited.String(), res.Cause == grid.Signaled.String():
		return res.Error
	case strings.HasPrefix(res.Error, text):
		return res.Error
	}
	return text + ": " + res.Error
}

// checkpointText says which checkpoints of a task or gang are kept.
func checkpointText(c *v1.Checkpoint) string {
	var parts []string
	if c.Step > 0 {
		s := fmt.Sprintf("checkpoint %d is kept", c.Step)
		if c.Alone {
			s += " by one node alone"
		}
		parts = append(parts, s+": a restart begins from it")
	}
	if c.From > 0 {
		parts = append(parts, fmt.Sprintf("this attempt began from checkpoint %d", c.From))
	}
	if c.Problem != "" {
		parts = append(parts, "a newer checkpoint was not kept: "+c.Problem)
	}
	return strings.Join(parts, "; ")
}

func printCheckpoint(w io.Writer, before string, t *v1.Task) {
	if t.Checkpoint != nil {
		fmt.Fprintf(w, "%s%s\n", before, checkpointText(t.Checkpoint))
	}
}
