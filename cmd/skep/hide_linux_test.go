package main

import (
	"os"
	"path/filepath"
	"testing"

	"skep/grid"
)

// A node's data folder is in a folder that it exposes, and so is another node's, which it is told to hide: tasks see
// the rest of that folder only.
func TestExposedFolderHidesDataFolders(t *testing.T) {
	t.Parallel()
	if isolation() == grid.IsolationNone {
		t.Skip("no boxes here")
	}
	dir, _ := sharedFolder(t, "seen")
	other := filepath.Join(dir, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "secret"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	m := &member{skep: "skep", dir: filepath.Join(dir, "data"), log: &spool{},
		args: []string{"--listen", "/ip4/127.0.0.1/tcp/0", "--no-mdns", "--isolation", "basic", "--expose", dir, "--hide",
			other}}
	m.start(t)
	out := m.run(t, "", "run", "--", "sh", "-c", "cd '"+dir+"'; ls -A . data other; cat data/* other/*; exit 0")
	for _, place := range []string{"data", "other"} {
		if entries, err := os.ReadDir(filepath.Join(dir, place)); err != nil || len(entries) == 0 {
			t.Errorf("%s: %d entries, %v: want some to hide", place, len(entries), err)
		}
	}
	if out != ".:\ndata\nother\nseen\n" {
		t.Errorf("a task sees\n%s", out)
	}
}
