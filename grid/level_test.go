package grid

import (
	"strings"
	"testing"
)

// What a program is given to run sets its level: a text after an option, or a file that travels, by its content.
// Nothing else does: neither further arguments nor a class of the submitter's own.
func TestLevels(t *testing.T) {
	script := File{Path: "run.py", Blob: BlobID{1}}
	level := func(class string, inputs []File, command ...string) string {
		s := &JobSpec{Engine: EngineProcess, Class: class, Command: command, Inputs: inputs}
		return LevelOf(ClassOf(s), s)
	}
	short := level("", nil, "sh", "-c", "sleep 0.05")
	for what, x := range map[string]struct {
		got  string
		same bool // as short
	}{
		"another text":       {level("", nil, "sh", "-c", "sleep 3"), false},
		"another argument":   {level("", nil, "sh", "-c", "sleep 0.05", "x"), true},
		"a group of options": {level("", nil, "sh", "-ec", "sleep 0.05"), true},
	} {
		if (x.got == short) != x.same {
			t.Errorf("%s: level %q, and %q of the first", what, x.got, short)
		}
		if class, finer := ClassOfLevel(x.got); !finer || class != "process:sh" || !ValidClass(x.got) {
			t.Errorf("%s: level %q is of class %q, finer: %v", what, x.got, class, finer)
		}
	}
	python := level("", []File{script}, "python3", "-u", "run.py", "--seed", "1")
	if python != level("", []File{script}, "python3", "./run.py", "7") {
		t.Error("the same script has another level with other arguments")
	}
	script.Blob[0]++
	if python == level("", []File{script}, "python3", "run.py") {
		t.Error("a script of other content has the same level")
	}
	for what, got := range map[string]string{
		"no script":      level("", nil, "sleep", "3"),
		"a class":        level("own", nil, "sh", "-c", "sleep 3"),
		"a long option":  level("", nil, "tool", "--exec", "x"),
		"a long program": level("", nil, strings.Repeat("p", 60), "-c", "x"),
		"nothing after":  level("", nil, "sh", "-c"),
	} {
		if _, finer := ClassOfLevel(got); finer {
			t.Errorf("%s: has the finer level %q", what, got)
		}
	}
	s := &JobSpec{Engine: EngineProcess, Command: []string{"sh", "-c", "x"}}
	if got := LevelOf("demoted", s); got != "demoted" {
		t.Errorf("a demoted task has the level %q", got)
	}
}
