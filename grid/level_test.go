package grid

import (
	"fmt"
	"strings"
	"testing"
)

// What a program is given to run sets its level: a text after an option, or a file that travels, by its content.
// Nothing else does: neither further arguments nor a class of the submitter's own.
func TestLevels(t *testing.T) {
	script := File{Path: "run.py", Blob: BlobID{1}}
	level := func(class string, inputs []File, command ...string) string {
		s := &JobSpec{Engine: EngineProcess, Class: class, Command: command, Inputs: inputs}
		return LevelOf(s)
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
		if class, finer := ClassOfLevel(x.got); !finer || class != "process:sh" || !ValidLevel(x.got) ||
			ValidClass(x.got) {
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
		if got != "" {
			t.Errorf("%s: has the finer level %q", what, got)
		}
	}
	hidden := &JobSpec{Engine: EngineProcess, Command: []string{"sh", "-c", "x"}, Capability: CapabilityHash{1}}
	if got := LevelOf(hidden); got != "" {
		t.Errorf("a job that only its owner may see has the level %q", got)
	}
}

// No class is taken for a level: neither one that the submitter named, nor what a program is called, nor a level of
// earlier versions.
func TestClassIsNoLevel(t *testing.T) {
	for name, valid := range map[string]bool{"sweep#20240101": true, "a" + LevelMark + "20240101": false,
		LevelMark: false, "process:x#20240101": true} {
		s := good()
		s.Class = name
		err := s.Check()
		if (err == nil) != valid || ValidClass(name) != valid {
			t.Errorf("class %q: %v, valid: %v", name, err, ValidClass(name))
		}
		for _, part := range []string{"class", name, "without \"" + LevelMark} {
			if err != nil && !strings.Contains(err.Error(), part) {
				t.Errorf("class %q: the error %q does not say %q", name, err, part)
			}
		}
		if _, finer := ClassOfLevel(name); finer && valid {
			t.Errorf("class %q is taken for a level", name)
		}
	}
	s := good()
	s.Command = []string{"run" + LevelMark + "20240101"}
	if class := ClassOf(&s); !ValidClass(class) {
		t.Errorf("a program is of class %q", class)
	}
	for name, earlier := range map[string]bool{"process:sh#1a2b3c4d": true, "sweep#20240101": false,
		"process:sh": false, "process:sh" + LevelMark + "1a2b3c4d": false} {
		if IsEarlierLevel(name) != earlier {
			t.Errorf("%q is of earlier versions: %v", name, !earlier)
		}
	}
}

// The class and the level of a job with many arguments and inputs are found in linear time: each argument is cleaned
// once, each input once for the class and once for the level, which allocates twice.
func TestLevelIsLinear(t *testing.T) {
	cost := func(n int) float64 {
		s := &JobSpec{Engine: EngineProcess, Command: []string{"./sh"}}
		for k := range n {
			s.Command = append(s.Command, fmt.Sprint("./arg", k))
			s.Inputs = append(s.Inputs, File{Path: fmt.Sprint("./in", k), Blob: BlobID{1}, Exec: true})
		}
		s.Command = append(s.Command, "-c", "text")
		if LevelOf(s) == "" {
			t.Fatal("it has no level")
		}
		return testing.AllocsPerRun(5, func() { LevelOf(s) })
	}
	for _, n := range []int{100, 1000} {
		if got, most := cost(n), float64(2*3*n+50); got > most {
			t.Errorf("%g allocations with %d arguments and inputs, want at most %g", got, n, most)
		}
	}
}
