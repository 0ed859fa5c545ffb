package attack

import (
	"io/fs"
	"os"
	"path/filepath"
)

// removeAll removes a folder whatever permissions are in it.
func removeAll(dir string) error {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
