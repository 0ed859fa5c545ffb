package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the expected output of the golden scripts anew")

// separator stands between the commands of a block and their output.
const separator = "----"

// maxLines bounds the length of a script: a longer one is not read.
const maxLines = 120

// Run runs each script whose path matches a pattern, as a subtest named like the file. begin returns what runs the
// commands of one script: it is given a line and returns its output, lines of text or nothing.
func Run(t *testing.T, pattern string, begin func() func(command string) (output string, err error)) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("scripts %s: %d found, %v", pattern, len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			after := runScript(t, path, string(before), begin())
			if n := strings.Count(after, "\n"); n > maxLines {
				t.Errorf("%s has %d lines: want at most %d", path, n, maxLines)
			}
			if *update && after != string(before) {
				if err := os.WriteFile(path, []byte(after), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// runScript returns a script with the output that its commands have now. It reports the first block whose output is
// another: those that follow would only differ because of it.
func runScript(t *testing.T, path, script string, run func(string) (string, error)) string {
	t.Helper()
	var out strings.Builder
	lines := strings.Split(strings.TrimRight(script, "\n"), "\n")
	differs := *update
	for at := 0; at < len(lines); {
		first, got := at, ""
		for ; at < len(lines) && lines[at] != "" && lines[at] != separator; at++ {
			out.WriteString(lines[at] + "\n")
			if strings.HasPrefix(lines[at], "#") {
				first = at + 1
				continue
			}
			s, err := run(lines[at])
			if err != nil {
				t.Fatalf("%s:%d: %s: %v", path, at+1, lines[at], err)
			}
			got += s
		}
		if first == at { // an empty line, or nothing but comments
			if at < len(lines) {
				out.WriteString(lines[at] + "\n")
			}
			at++
			continue
		}
		want := ""
		if at < len(lines) && lines[at] == separator {
			for at++; at < len(lines) && lines[at] != ""; at++ {
				want += lines[at] + "\n"
			}
		}
		if got != want && !differs {
			differs = true
			t.Errorf("%s:%d: %s\ngot:\n%s\nwant:\n%s", path, first+1, lines[first], got, want)
		}
		out.WriteString(separator + "\n" + got)
	}
	return out.String()
}
