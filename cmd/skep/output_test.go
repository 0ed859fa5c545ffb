package main

import (
	"strings"
	"testing"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	v1 "skep/node/api/v1"
)

// On a terminal of 80 columns all numbers of an array's tasks are seen, whatever its name; where there is room, the
// name is whole.
func TestJobTableShowsArrays(t *testing.T) {
	array := v1.ListedJob{Job: v1.Job{ID: strings.Repeat("a", 16) + "-" + strings.Repeat("b", 52),
		Name: "lattice-of-sixteen-größe", State: "running", Count: 10000, Ended: 4321,
		JobTasks:    v1.JobTasks{Pending: 5515, Queued: 64, Running: 100},
		JobFailures: v1.JobFailures{Failed: 37, Retried: 512}, Command: []string{"./simulate"}}}
	short := v1.ListedJob{Job: v1.Job{ID: array.ID, Name: "one", State: "done", Count: 1, Ended: 1}}
	for width, name := range map[int]string{80: "lattice-of-s…", 0: array.Name, 60: "lattice…"} {
		var text strings.Builder
		if err := format("table").print(&text, nil, func(w *tabwriter.Writer) {
			jobTable(w, []v1.ListedJob{array, short}, true, width)
		}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(fitLines(text.String(), width), "\n")
		if want := "aaaaaaaa  " + name + "  running"; !strings.HasPrefix(lines[1], want) {
			t.Errorf("%d columns: %q, want %q", width, lines[1], want)
		}
		if got := strings.Fields(lines[1]); width != 60 && strings.Join(got[3:9], " ") != "10000 4321 37 100 64 5515" {
			t.Errorf("%d columns: %q, want each number of tasks", width, lines[1])
		}
		if !strings.Contains(lines[2], "  one  ") {
			t.Errorf("%d columns: %q", width, lines[2])
		}
	}
}

// On a terminal of 80 columns no line of a table is longer; elsewhere, and with --wide, each is whole.
func TestTablesFitTheTerminal(t *testing.T) {
	long := "JOB  COMMAND" + strings.Repeat(" ", 60) + "\nlärm  " + strings.Repeat("ü", 100) + "\nlast"
	for line := range strings.Lines(fitLines(long, 80)) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if got := fitLines(long, 80); !strings.HasPrefix(got, "JOB  COMMAND\nlärm  ü") || !strings.HasSuffix(got, "ü…\nlast") {
		t.Errorf("%q", got)
	}
	id := "job         " + strings.Repeat("a", 16) + "-" + strings.Repeat("b", 52)
	if got := fitLines(id, 80); got != id {
		t.Errorf("an ID is cut: %q", got)
	}
	if fitLines(long, 0) != long {
		t.Error("a line was cut though no width is known")
	}
	for args, want := range map[string]format{"": "table", "--wide": wide, "--wide=false": "table",
		"--output json --wide": "json", "--wide --output json": "json"} {
		var f format
		cmd := &cobra.Command{}
		outputFlag(cmd, &f)
		if err := cmd.ParseFlags(strings.Fields(args)); err != nil || f != want {
			t.Errorf("%q: %q, %v: want %q", args, f, err, want)
		}
	}
}
