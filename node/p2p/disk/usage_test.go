package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Folders are measured whatever their modes, which stay as they were: a task may create what it cannot read.
func TestUnreadableFoldersAreMeasured(t *testing.T) {
	base := t.TempDir()
	for mode := range fs.FileMode(0o1000) {
		dir := filepath.Join(base, fmt.Sprintf("%o", mode))
		inner := filepath.Join(dir, "a", "b")
		err := errors.Join(os.MkdirAll(inner, 0o700), os.WriteFile(filepath.Join(inner, "f"), make([]byte, 1<<16), 0o600),
			os.Chmod(inner, mode),
			os.Chmod(filepath.Dir(inner), mode), os.Chmod(dir, mode))
		if err != nil {
			t.Fatal(err)
		}
		u := Used(dir, 100)
		if u.Files != 3 || u.Bytes < 1<<16 || u.Unreadable || u.Deep {
			t.Errorf("mode %04o: %+v", mode, u)
		}
		for _, path := range []string{dir, filepath.Dir(inner), inner} {
			info, err := os.Lstat(path)
			if err != nil || info.Mode().Perm() != mode {
				t.Errorf("mode %04o: %v, %v afterwards", mode, info, err)
			}
			os.Chmod(path, 0o700)
		}
	}
}

// A folder of another user that cannot be read does not count as empty.
func TestFoldersOfOthersAreReported(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("nothing is closed to root")
	}
	if u := Used("/root", 100); !u.Unreadable {
		t.Errorf("%+v: want it to be closed", u)
	}
}
