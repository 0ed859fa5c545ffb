package external

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"skep/exec/process"
)

// MaxRecord bounds a file that is read back, in bytes: an order has at most the words of a job.
const MaxRecord = 16 << 20

// WriteRecord writes a file that is whole when it has its name, and on disk.
func WriteRecord(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return WriteFile(path, b, 0o600)
}

// WriteFile is WriteRecord for any content.
func WriteFile(path string, content []byte, mode os.FileMode) error {
	if err := Install(path, bytes.NewReader(content), mode); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// Install makes a file with a content, which has its name once it is whole and on disk.
func Install(path string, content io.Reader, mode os.FileMode) error {
	f, err := Draft(filepath.Dir(path), DraftPrefix+"*", content, mode)
	if err != nil {
		return err
	}
	defer os.Remove(f)
	return os.Rename(f, path)
}

// DraftPrefix begins the names of files that are not whole yet. A crash leaves them.
const DraftPrefix = ".draft-"

// Draft makes a file under a name of the pattern, and returns its path once its content is on disk.
func Draft(dir, pattern string, content io.Reader, mode os.FileMode) (path string, err error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, content)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		os.Remove(f.Name())
	}
	return f.Name(), err
}

// SyncFolder returns once the names in a folder are on disk.
func SyncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	// some network file systems cannot, and keep names without
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

// OpenFile opens a file in whose place a task may have put anything: no link is followed, and nothing is waited for.
func OpenFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// ReadRecord reads a file that WriteRecord has written, if it is an ordinary one.
func ReadRecord(path string, v any) error {
	f, err := OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > MaxRecord {
		return fmt.Errorf("%s: is not a file of at most %d bytes", path, MaxRecord)
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxRecord))
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// MakeFolders makes the folder of an attempt, in the folder of all attempts.
func MakeFolders(attempts, dir string) error {
	if filepath.Dir(dir) != attempts {
		return fmt.Errorf("%s is not in %s, the folder of attempts", dir, attempts)
	}
	temp := filepath.Join(filepath.Dir(process.Work(dir)), "tmp")
	for _, path := range [...]string{dir, process.Work(dir), temp} {
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("make folder of attempt: %w", err)
		}
	}
	return nil
}
