package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile writes a file that only the owner can read; it is on disk when WriteFile returns. After a crash the
// file has the old or the new content, never a part.
func WriteFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return Sync(filepath.Dir(path))
}

// MakeFolder creates a folder and its missing parents, as os.MkdirAll does; their names are on disk when it
// returns.
func MakeFolder(path string, mode fs.FileMode) error {
	var made []string
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	if err := os.MkdirAll(path, mode); err != nil {
		return err
	}
	for _, folder := range made {
		if err := Sync(filepath.Dir(folder)); err != nil {
			return err
		}
	}
	return nil
}

// Sync syncs a file's content, or the names in a folder, to disk.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
