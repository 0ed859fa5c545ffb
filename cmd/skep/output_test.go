package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

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
