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
	return replace(f, path, func(f *os.File) error { _, err := f.Write(content); return err })
}

// Replace is WriteFile with what write writes, under the name of draft until it is complete: a crash may leave that.
func Replace(draft, path string, write func(*os.File) error) error {
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return replace(f, path, write)
}

// replace has a new file written, and gives it a name once it is on disk.
func replace(f *os.File, path string, write func(*os.File) error) error {
	err := write(f)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
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
