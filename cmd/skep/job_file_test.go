package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skep/node/api/v1"
)

func TestJobFileOfTheDesign(t *testing.T) {
	j, err := readJob("sweep.yaml", []byte(`
name: sweep
class: lattice-16            # optional
command: [./simulate, --seed, "${SKEP_INDEX}", 7]
count: 100                   # tasks 0..99
needs: {cpu: 1, memory: 256MiB, labels: {os: linux, zone: [a, b]}}
inputs: [data/params.toml]   # paths of the submitter, or blob hashes
outputs: ["out/*.csv"]
env: {MODE: fast, N: 3}
timeout: 10m
retries: 2                   # 0: at most once
policy: lpas_dec             # optional, of those the node has
`))
	if err != nil {
		t.Fatal(err)
	}
	s := &j.spec
	if s.Count != 100 || s.Needs.Memory != 256<<20 || s.Timeout != 600 || *s.Retries != 2 || s.Env["N"] != "3" ||
		!slices.Equal(s.Command, []string{"./simulate", "--seed", "${SKEP_INDEX}", "7"}) ||
		!slices.Equal(s.Needs.Labels["zone"], []string{"a", "b"}) ||
		!slices.Equal(j.inputs, []string{"data/params.toml"}) {
		t.Errorf("the file reads as %+v with inputs %v", s, j.inputs)
	}
}

// A script may contain any number of brackets, and a file that is nested too deeply is an error.
func TestBracketsOfScripts(t *testing.T) {
	colours := strings.Repeat("    printf '\\033[1mbold\\033[0m'\n", 200)
	if j, err := readJob("f", []byte("command:\n- sh\n- -c\n- |\n"+colours+"count: 2\n")); err != nil ||
		strings.Count(j.spec.Command[2], "[") != 400 {
		t.Errorf("a script of colours: %v", err)
	}
	_, err := readJob("f", []byte("# [\ncommand: "+strings.Repeat("- ", 1000)))
	if err == nil || !strings.HasPrefix(err.Error(), "f:2:208: nested more than 100 deep: want") {
		t.Errorf("1000 dashes: %v", err)
	}
}

func FuzzReadJob(f *testing.F) {
	for _, s := range []string{"", "command: [a]", "a: *b", "&a [*a]", "command: [a]\ncommand: [b]", "needs: {cpu: .inf}",
		"- x", "? [a]\n: b", "{", "command: [\"\\0\"]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		j, err := readJob("f", []byte(s))
		if err != nil {
			return
		}
		if len(j.spec.Command) == 0 {
			t.Errorf("%q is taken, without a command", s)
		}
		if err := checkSpec(&j.spec, nil); err != nil {
			t.Errorf("%q is taken, but %v", s, err)
		}
	})
}

func TestSniff(t *testing.T) {
	elf := make([]byte, 20)
	copy(elf, "\x7fELF\x02\x01\x01\x00")
	elf[18] = 183
	pe := make([]byte, 0x50)
	copy(pe, "MZ")
	pe[0x3c] = 0x40
	copy(pe[0x40:], "PE\x00\x00\x64\x86")
	for name, tc := range map[string]struct {
		head string
		want machine
	}{
		"linux on arm64":   {string(elf), machine{"linux", "arm64"}},
		"macOS on arm64":   {"\xcf\xfa\xed\xfe\x0c\x00\x00\x01", machine{"darwin", "arm64"}},
		"Windows":          {string(pe), machine{"windows", "amd64"}},
		"script":           {"#!/bin/sh\n", machine{}},
		"cut ELF":          {"\x7fELF", machine{}},
		"PE header beyond": {"MZ" + strings.Repeat("\xff", 0x3e), machine{}},
		"nothing":          {"", machine{}},
	} {
		if got := machineOf([]byte(tc.head)); got != tc.want {
			t.Errorf("%s: %v: want %v", name, got, tc.want)
		}
	}
}

func TestProgramTravelsByItsPath(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "prog"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []string{"./other", "sub/prog", "../prog"} {
		if _, err := collectInputs(&v1.Spec{Command: []string{cmd}}, nil, dir, nil); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("program %q: no such file, and no input of that name", cmd)) {
			t.Errorf("command %s, which is nowhere: %v", cmd, err)
		}
	}
	s := &v1.Spec{Command: []string{"sub/tool"}}
	if files, err := collectInputs(s, []string{"prog=sub/tool"}, dir, nil); err != nil || len(files) != 1 {
		t.Errorf("a program that is an input: %d files, %v", len(files), err)
	}
	if _, err := collectInputs(&v1.Spec{Command: []string{dir + "/"}}, nil, dir, nil); err == nil ||
		!strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder as the program: %v", err)
	}
	for cmd, want := range map[string]int{"./prog": 1, "prog": 0, filepath.Join(dir, "prog"): 1, "/nowhere/other": 0} {
		s := &v1.Spec{Command: []string{cmd}}
		files, err := collectInputs(s, nil, dir, nil)
		if err != nil || len(files) != want {
			t.Errorf("command %s: %d files travel, %v: want %d", cmd, len(files), err, want)
		}
		if want == 1 && (s.Command[0] != "./prog" || len(s.Needs.Labels) != 0) {
			t.Errorf("command %s becomes %q with needs %v: want ./prog and none", cmd, s.Command, s.Needs.Labels)
		}
	}
}
