package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/goccy/go-yaml"

	"skep/grid"
	"skep/node/api/v1"
)

// hostileName is a name of a node, job or file that reverses lines and clears a terminal.
const hostileName = "a\u202egpj.\u009b2J\u2066b"

// No output format passes control characters of others to a terminal, and programs read the original.
func TestOutputIsPrintable(t *testing.T) {
	j := v1.Job{Name: "sweep", Command: []string{"sh", "-c", "echo " + hostileName + "\nexit"}}
	for _, f := range []format{"table", "json", "yaml"} {
		var b bytes.Buffer
		if err := f.print(&b, j, func(w *tabwriter.Writer) { row(w, j.Name, j.Command) }); err != nil {
			t.Fatal(err)
		}
		if !printableLines(b.Bytes()) || b.Len() == 0 {
			t.Errorf("%s: %q", f, b.String())
		}
		var back v1.Job
		err := error(nil)
		switch f {
		case "json":
			err = json.Unmarshal(b.Bytes(), &back)
		case "yaml":
			var text []byte
			if text, err = yaml.YAMLToJSON(b.Bytes()); err == nil {
				err = json.Unmarshal(text, &back)
			}
		default:
			continue
		}
		if err != nil || len(back.Command) != 3 || back.Command[2] != j.Command[2] {
			t.Errorf("%s is read as %q, %v", f, back.Command, err)
		}
	}
	if got := string(escapeUnprintable([]byte("{\"a\": \"ü\u009b\U000e0041\"}\n"))); got != `{"a": "ü\u009b\udb40\udc41"}`+"\n" {
		t.Errorf("%q", got)
	}
}

// Errors and logs pass neither control characters nor tokens.
func TestErrorsAndLogsArePrintable(t *testing.T) {
	token := "skep1-" + strings.Repeat("abcdefg2", 10)
	var out, log bytes.Buffer
	a := &app{out: &out, err: &out}
	if code := a.main(t.Context(), []string{"up", token}); code == 0 {
		t.Error("up takes an argument")
	}
	if code := a.main(t.Context(), []string{token}); code == 0 {
		t.Error("a token is a verb")
	}
	a.main(t.Context(), []string{"job", "describe", hostileName})
	if s := out.String(); strings.Contains(s, "abcdefg2") || strings.Contains(s, "\u202e") ||
		!strings.Contains(s, "skep1-…") {
		t.Errorf("%q", s)
	}
	l := newLog(&log, &log, slog.LevelDebug)
	l.Info(hostileName+token, "name", hostileName, "error", fmt.Errorf("%w: %s", errors.New(hostileName), token), "blob",
		grid.BlobID{}, "token", token)
	if s := log.String(); strings.Contains(s, "abcdefg2") || !grid.Printable(strings.TrimSpace(s)) ||
		strings.Count(s, "a?gpj.?2J?b") != 3 || strings.Count(s, "\n") != 1 {
		t.Errorf("%q", s)
	}
	if got := sanitize("two\nlines " + hostileName); got != "two\nlines a?gpj.?2J?b" {
		t.Errorf("%q", got)
	}
}
