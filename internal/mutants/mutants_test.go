package mutants

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	run  = flag.Bool("mutants", false, "make every fault and run the test that finds it")
	only = flag.String("mutants.only", "", "only those whose file or name has a match of this regular expression")
)

// root is that of the module.
func root(t *testing.T) string {
	t.Helper()
	at, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Each fault can be made in the file as it is, and the test that it names is there.
func TestListIsRight(t *testing.T) {
	if len(All) < 10 {
		t.Errorf("%d mutants, want ten or more", len(All))
	}
	var names []string
	for _, m := range All {
		if m.Name == "" || slices.Contains(names, m.Name) {
			t.Errorf("%s: name %q: want one of its own", m.File, m.Name)
		}
		names = append(names, m.Name)
		source, err := os.ReadFile(filepath.Join(root(t), m.File))
		if err != nil {
			t.Error(err)
			continue
		}
		if changed, err := m.apply(source); err != nil || string(changed) == string(source) {
			t.Errorf("%s: %v; want a change", m.Name, err)
		}
		tests, err := filepath.Glob(filepath.Join(root(t), m.folder(), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(tests, func(f string) bool {
			b, err := os.ReadFile(f)
			return err == nil && strings.Contains(string(b), "func "+m.Test+"(")
		}) {
			t.Errorf("%s: no test %s in %s", m.Name, m.Test, m.pkg())
		}
	}
}

// A text that is not there, or twice, is no place for a fault.
func TestApplyWantsOnePlace(t *testing.T) {
	m := Mutant{File: "f.go", From: "x++", To: "x--"}
	if got, err := m.apply([]byte("a; x++; b")); err != nil || string(got) != "a; x--; b" {
		t.Errorf("%q, %v", got, err)
	}
	for _, source := range []string{"a", "x++; x++"} {
		if _, err := m.apply([]byte(source)); err == nil {
			t.Errorf("%q: no error", source)
		}
	}
}

// With -mutants: each test passes as the files are, and fails with its fault in them.
func TestMutantsAreFound(t *testing.T) {
	if !*run {
		t.Skip("needs -mutants, and half an hour or more: make mutants")
	}
	chosen := regexp.MustCompile(*only)
	all := slices.DeleteFunc(slices.Clone(All), func(m Mutant) bool {
		return !chosen.MatchString(m.File) && !chosen.MatchString(m.Name)
	})
	tests := map[string][]string{}
	for _, m := range all {
		if !slices.Contains(tests[m.pkg()], m.Test) {
			tests[m.pkg()] = append(tests[m.pkg()], m.Test)
		}
	}
	for pkg, names := range tests {
		if out, err := test(root(t), pkg, strings.Join(names, "|")); err != nil {
			t.Fatalf("%s fails without a fault: %v\n%s", pkg, err, out)
		}
	}
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			if err := m.killed(root(t), t.TempDir()); err != nil {
				t.Error(err)
			}
		})
	}
}
