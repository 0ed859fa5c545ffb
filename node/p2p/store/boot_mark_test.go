package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"skep/grid"
)

// startTimes opens a folder and counts starts in it.
func startTimes(t *testing.T, dir string, times int, owner grid.NodeID) {
	t.Helper()
	for range times {
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.NextBoot(owner); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Regression: an emptied database counted as that of a new node, though its identity was there, and what had ended
// was recorded again.
func TestEmptiedDatabase(t *testing.T) {
	fresh := t.TempDir()
	open(t, fresh).Close()
	begun, err := os.ReadFile(filepath.Join(fresh, File))
	if err != nil {
		t.Fatal(err)
	}
	for how, c := range map[string]struct {
		content []byte // nil: none
		words   string
	}{
		"emptied": {[]byte{}, File + " was emptied: want it back"},
		"removed": {nil, File + " is not there, but node aeaaaaaa has been started 3 times"},
		"begun anew": {begun,
			File + " was emptied or begun anew: it knows of none of the 3 starts or more of node aeaaaaaa"},
		"an old copy": {[]byte("the first start's"), File + " is an old copy: it knows of 1 of the 3 starts or more"},
	} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, File)
			startTimes(t, dir, 1, grid.NodeID{1})
			if how == "an old copy" {
				if c.content, err = os.ReadFile(path); err != nil {
					t.Fatal(err)
				}
			}
			startTimes(t, dir, 2, grid.NodeID{1})
			whole, err := os.ReadFile(path)
			if err == nil {
				err = os.Remove(path)
			}
			if err == nil && c.content != nil {
				err = os.WriteFile(path, c.content, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // trying again does not help
				_, err = Open(dir)
				wantError(t, err, ErrDamaged, dir, c.words)
				wantError(t, err, ErrDamaged, dir, "or another data folder")
			}
			if now, err := os.ReadFile(path); (err == nil) != (c.content != nil) || !bytes.Equal(now, c.content) {
				t.Errorf("the file was changed: %d bytes, %v", len(now), err)
			}
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			startTimes(t, dir, 1, grid.NodeID{1})
		})
	}
}

// A folder of an earlier version has no mark until its next start.
func TestFolderWithoutAMark(t *testing.T) {
	dir := t.TempDir()
	startTimes(t, dir, 2, grid.NodeID{1})
	if err := os.Remove(filepath.Join(dir, MarkFile)); err != nil {
		t.Fatal(err)
	}
	open(t, dir).Close()
	if m, err := readMark(dir); err != nil || m != (mark{}) {
		t.Errorf("%+v, %v: want none before the start is counted", m, err)
	}
	startTimes(t, dir, 1, grid.NodeID{1})
	if m, err := readMark(dir); err != nil || m != (mark{grid.NodeID{1}, 3}) {
		t.Errorf("%+v, %v", m, err)
	}
}

// A mark of another node is ignored.
func TestMarkOfAnotherNode(t *testing.T) {
	dir := t.TempDir()
	startTimes(t, dir, 1, grid.NodeID{1})
	if err := (mark{grid.NodeID{2}, 9}).write(dir); err != nil {
		t.Fatal(err)
	}
	startTimes(t, dir, 1, grid.NodeID{1})
	if m, err := readMark(dir); err != nil || m != (mark{grid.NodeID{1}, 2}) {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestMarkCannotBeRead(t *testing.T) {
	id := grid.NodeID{1}.String()
	for text, want := range map[string]error{
		"": ErrDamaged, "1": ErrDamaged, "1 " + id: ErrDamaged, "1 " + id + " 0\n": ErrDamaged,
		"1 " + id + " x\n": ErrDamaged, "1 nobody 3\n": ErrDamaged,
		"\x00\x00": ErrDamaged, "2 something else\n": ErrNewer,
	} {
		dir := t.TempDir()
		startTimes(t, dir, 1, grid.NodeID{1})
		if err := os.WriteFile(filepath.Join(dir, MarkFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir)
		wantError(t, err, want, dir, MarkFile)
		if errors.Is(err, ErrInUse) {
			t.Error(err)
		}
	}
}
