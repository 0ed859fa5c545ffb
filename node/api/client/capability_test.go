package client

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skep/grid"
)

func jobText(i int) string {
	return grid.JobID{Origin: grid.NodeID{1}, Nonce: [10]byte{byte(i), byte(i >> 8), byte(i >> 16)}}.String()
}

// The folder is bounded: the oldest capabilities not used for long are removed, and this is reported. Those of jobs
// that may run, and other files, stay.
func TestOldCapabilitiesArePruned(t *testing.T) {
	const most = 100
	var told []string
	k := capabilities{t.TempDir(), func(s string) { told = append(told, s) }}
	began := time.Now().Add(-unusedFor - time.Hour)
	put := func(name string, at time.Time) {
		t.Helper()
		file := filepath.Join(k.dir, name)
		if err := os.WriteFile(file, []byte(strings.Repeat("ab", 32)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	put("notes", began.Add(-time.Hour))
	for i := range most + moreAtOnce {
		at := began.Add(time.Duration(i) * time.Millisecond)
		if i >= 500 {
			at = time.Now()
		}
		put(jobText(i), at)
	}
	if c, err := k.of(jobText(3)); c == nil || err != nil { // marks it as used
		t.Fatal(err)
	}
	k.prune(most)
	has := func(name string) bool { _, err := os.Stat(filepath.Join(k.dir, name)); return err == nil }
	for i, want := range map[int]bool{0: false, 3: true, 499: false, 500: true, most + moreAtOnce - 1: true} {
		if has(jobText(i)) != want {
			t.Errorf("job %d is there: %t", i, !want)
		}
	}
	if !has("notes") || len(told) != 1 || !strings.Contains(told[0], "removed the 499 oldest") {
		t.Errorf("told %q; another file is there: %t", told, has("notes"))
	}
	if k.prune(most); len(told) != 1 {
		t.Errorf("told %q", told[1:])
	}
}

// A name that is no whole ID never becomes the path of a file.
func TestCapabilityFilesAreNamedByWholeIDs(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), []byte(strings.Repeat("ab", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	k := capabilities{dir: filepath.Join(dir, CapabilityFolder)}
	for _, id := range []string{"../x", "x", "", "last", jobText(1) + "/../../x", jobText(1)[:20]} {
		if c, err := k.of(id); c != nil || err != nil {
			t.Errorf("of %q: %v, %v", id, c, err)
		}
		if _, err := k.draw(id); err == nil {
			t.Errorf("drawn for %q", id)
		}
	}
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(k.dir, jobText(1)), []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.of(jobText(1)); err == nil || !strings.Contains(err.Error(), "64 hexadecimal digits") {
		t.Errorf("a file that holds none: %v", err)
	}
}

// A node's resolution of a reference is accepted only if it fits: the capability of another job is not used for it.
func TestNames(t *testing.T) {
	id := jobText(1)
	other := grid.JobID{Origin: grid.NodeID{2}, Nonce: [10]byte{1}}.String()
	for _, tc := range []struct {
		ref, id string
		want    bool
	}{
		{id, id, true}, {id[:4], id, true}, {id[:20], id, true}, {"last", id, true}, {id, other, false},
		{id[:20], other, false},
		{"zzzz", id, false}, {id[:4], "", false}, {"last", "../x", false}, {"last", fmt.Sprintf("%s-x", id[:16]), false},
	} {
		if got := couldName(tc.ref, tc.id); got != tc.want {
			t.Errorf("names(%q, %q) = %t: want %t", tc.ref, tc.id, got, tc.want)
		}
	}
}
