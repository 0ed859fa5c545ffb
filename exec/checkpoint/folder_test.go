package checkpoint

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// attempt makes the folder of an attempt, with files in its work folder.
func attempt(t *testing.T, files ...string) string {
	dir := t.TempDir()
	write(t, dir, files...)
	return dir
}

func write(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, f := range files {
		path := filepath.Join(dir, "work", f)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// there returns what is left of checkpoints in a folder of an attempt.
func there(t *testing.T, dir, folder string) (steps []uint64) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	steps = list(root, folder)
	slices.Sort(steps)
	return steps
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Of what a program has written only that counts which it says is closed: one that is being written stays where it is.
func TestClosedIsMoved(t *testing.T) {
	dir := attempt(t, "state/3/f", "state/7/f", "state/10/a", "state/10/deep/b", "state/11/half", "state/x/f", "other")
	closed, err := Close(dir, "work", []uint64{10})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "closed", closed, "[10]")
	want(t, "closed folder", there(t, dir, "closed"), "[10]")
	want(t, "left in the work folder", there(t, dir, "work/state"), "[11]")
	root, err := Open(dir, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if b, err := root.ReadFile("deep/b"); err != nil || string(b) != "state/10/deep/b" {
		t.Errorf("%q, %v", b, err)
	}
	for _, f := range []string{"work/state/x/f", "work/other"} {
		if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
			t.Error(err)
		}
	}
	write(t, dir, "state/12/f", "state/13/f")
	if closed, err = Close(dir, "work", []uint64{12, 13}); err != nil {
		t.Fatal(err)
	}
	want(t, "closed", closed, "[12 13]")
	Keep(dir, nil, 11)
	want(t, "after Keep up to an older one", there(t, dir, "closed"), "[12 13]")
	Keep(dir, []uint64{12}, math.MaxUint64)
	want(t, "after Keep", there(t, dir, "closed"), "[12]")
}

// What is not there, or no folder, is not closed; the others are.
func TestWhatIsNotThere(t *testing.T) {
	dir := attempt(t, "state/10/f", "state/20")
	if err := os.Symlink("10", filepath.Join(dir, "work/state/30")); err != nil {
		t.Fatal(err)
	}
	closed, err := Close(dir, "work", []uint64{5, 10, 20, 30})
	if err == nil {
		t.Error("want what is wrong with 5, 20 and 30")
	}
	want(t, "closed", closed, "[10]")
	if closed, err := Close(dir, "work", []uint64{10}); err == nil || len(closed) > 0 {
		t.Errorf("said twice: %v, %v", closed, err)
	}
}

// The task owns its folders: a link in them leads nowhere outside of the attempt's.
func TestLinksLeadNowhere(t *testing.T) {
	outside := attempt(t, "state/1/secret", "state/10/secret")
	dir := attempt(t, "f")
	if err := os.Symlink(filepath.Join(outside, "work/state"), filepath.Join(dir, "work/state")); err != nil {
		t.Fatal(err)
	}
	if closed, err := Close(dir, "work", []uint64{10}); err == nil {
		t.Errorf("%v was taken through a link", closed)
	}
	want(t, "outside", there(t, outside, "work/state"), "[1 10]")

	dir = attempt(t, "state/10/f")
	if err := os.Symlink(outside, filepath.Join(dir, "work/state/10/out")); err != nil {
		t.Fatal(err)
	}
	if _, err := Close(dir, "work", []uint64{10}); err != nil {
		t.Fatal(err)
	}
	root, err := Open(dir, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := root.Open("out/work/state/1/secret"); err == nil {
		t.Error("a link in a checkpoint leads outside")
	}
	Keep(dir, nil, math.MaxUint64)
	want(t, "outside after Keep", there(t, outside, "work/state"), "[1 10]")
	want(t, "after Keep", there(t, dir, "closed"), "[]")
}
