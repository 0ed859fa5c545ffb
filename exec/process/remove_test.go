//go:build unix

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever mode a folder has, it goes with all in it: one that can be listed may still not be entered or changed.
func TestRemoveTakesFoldersOfAllModes(t *testing.T) {
	base := t.TempDir()
	for mode := range fs.FileMode(0o1000) {
		dir := filepath.Join(base, fmt.Sprintf("%o", mode))
		inner := filepath.Join(dir, "a", "b")
		if err := errors.Join(os.MkdirAll(inner, 0o700), os.WriteFile(filepath.Join(inner, "f"), nil, 0),
			os.WriteFile(filepath.Join(dir, "f"), nil, 0),
			os.Chmod(inner, mode), os.Chmod(filepath.Dir(inner), mode), os.Chmod(dir, mode)); err != nil {
			t.Fatal(err)
		}
		if err := Remove(dir); err != nil {
			t.Errorf("mode %04o: %v", mode, err)
			os.Chmod(dir, 0o700)
		}
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("mode %04o: still there: %v", mode, err)
		}
	}
}

// The names under which folders are moved up are nothing that a task can take away before.
func TestRemoveMovesFoldersUnderFreeNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "attempt")
	for i := range 4 {
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprintf("moved-up-%d", i), "x"+strings.Repeat("/d", 2*removeDepth)),
			0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := Remove(dir); err != nil {
		t.Error(err)
	}
}

// A folder that a living process goes on to fill is given up.
func TestRemoveComesToAnEnd(t *testing.T) {
	defer func(turns int) { removeTurns = turns }(removeTurns)
	dir := filepath.Join(t.TempDir(), "attempt")
	if err := os.MkdirAll(filepath.Join(dir, "x"+strings.Repeat("/d", 6*removeDepth)), 0o700); err != nil {
		t.Fatal(err)
	}
	removeTurns = 3
	if err := Remove(dir); !errors.Is(err, errFilled) {
		t.Errorf("after as many turns as it has: %v", err)
	}
	removeTurns = 1000
	if err := Remove(dir); err != nil {
		t.Error(err)
	}
}
