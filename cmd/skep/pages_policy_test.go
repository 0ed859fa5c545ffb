package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The policy of the page, built into the program as the page says, is run by a simulator. It is short.
func TestPolicyOfThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
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
	bin := filepath.Join(dir, "skep")
	build := exec.Command("go", "build", "-overlay", write("overlay.json", string(overlay)), "-o", bin, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(bin, "sim", "queue", write("system.yaml", system), "--policy",
		"three_choices,two_choices,random", "--time", "2000", "--replications", "4").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wait := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+) +\S+ +([0-9.]+)`).FindAllStringSubmatch(string(out), -1) {
		wait[m[1]] = m[2]
	}
	// three choices are better than two, and two than one: the times have as many digits
	three, two, one := wait["three_choices"], wait["two_choices"], wait["random"]
	if !(three != "" && three < two && two < one) {
		t.Errorf("times %v: want three_choices below two_choices below random\n%s", wait, out)
	}
}
