package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The policy of the page is built into package balance as the page says, and run by the simulator of queueing systems.
// It is short. The program is that simulator alone: all else that imports package balance would be compiled anew.
func TestPolicyOfThePage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a program")
	}
	var text, system string
	for _, p := range readPages(t) {
		for _, b := range p.blocks {
			switch {
			case b.language == "go":
				text = b.text
			case b.language == "yaml" && p.name == "docs/adding-a-policy.md":
				system = b.text
			}
		}
	}
	name := strings.TrimPrefix(strings.SplitN(text, "\n", 2)[0], "// ")
	if n := strings.Count(text, "\n"); n > 30 || !strings.HasPrefix(name, "balance/") {
		t.Fatalf("a policy of %d lines in %q: want at most 30, in package balance", n, name)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{
		"Replace": map[string]string{filepath.Join(root, name): write("policy.go", text)}})
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "queue")
	build := exec.Command("go", "build", "-overlay", write("overlay.json", string(overlay)), "-o", bin, "./testdata/queue")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(bin, write("system.yaml", system), "three_choices", "two_choices", "random")
	var said strings.Builder
	run.Stderr = &said
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	var report struct {
		Results []struct {
			Policy string
			Stable bool
			W      struct{ Mean float64 }
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	// three choices are better than two, and two than one
	before := 0.0
	for i, policy := range []string{"three_choices", "two_choices", "random"} {
		r := report.Results[i]
		if r.Policy != policy || !r.Stable || r.W.Mean <= before {
			t.Errorf("%d: %+v: want %s, stable, with times above %v", i, r, policy, before)
		}
		before = r.W.Mean
	}
}
