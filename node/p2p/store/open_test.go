package store

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"skep/grid"
)

// wantError checks that err is one line that names the folder and contains the words.
func wantError(t *testing.T, err, want error, dir, words string) {
	t.Helper()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), words) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("error: %v\nwant: %v … %s", err, want, words)
	}
}

func TestInUse(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	_, err := Open(dir)
	wantError(t, err, ErrInUse, dir, "stop that node or use another --data-dir")
	s.Close()
	open(t, dir)
}

// A newer one has a number more than a flipped bit away, or sums of its own.
func TestNewerFormat(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	err := s.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(metaBucket).Put(formatKey, binary.BigEndian.AppendUint64(nil, 11))
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	_, err = Open(dir)
	wantError(t, err, ErrNewer, dir, "format 11")
}

func TestNotADataFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(file)
	wantError(t, err, ErrNoAccess, file, "")

	rubbish := filepath.Join(dir, "rubbish")
	os.Mkdir(rubbish, 0o700)
	if err := os.WriteFile(filepath.Join(rubbish, File), []byte(strings.Repeat("rubbish ", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(rubbish)
	wantError(t, err, ErrDamaged, rubbish, "")

	foreign := filepath.Join(dir, "foreign")
	os.Mkdir(foreign, 0o700)
	db, err := bbolt.Open(filepath.Join(foreign, File), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("theirs")); return err })
	db.Close()
	_, err = Open(foreign)
	wantError(t, err, ErrDamaged, foreign, "is not Skep's")
}

func TestNotWritable(t *testing.T) {
	dir := t.TempDir()
	if os.Geteuid() == 0 {
		mount(t, dir, "ro")
	} else if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir)
	wantError(t, err, ErrNoAccess, dir, "")
}

// Only the owner may read the files.
func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	open(t, dir)
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, File): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// Nothing is acknowledged that goes into a file without a name.
func TestFileRemovedWhileOpen(t *testing.T) {
	for how, c := range map[string]struct {
		lose func(dir string) error
		file string
	}{
		"removed": {os.RemoveAll, File},
		"moved":   {func(dir string) error { return os.Rename(dir, dir+".away") }, File},
		"replaced": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, File)), os.WriteFile(filepath.Join(dir, File), nil, 0o600))
		}, File},
		"log removed": {func(dir string) error { return os.Remove(filepath.Join(dir, LogFile)) }, LogFile},
	} {
		dir := filepath.Join(t.TempDir(), "data")
		s := open(t, dir)
		if err := s.Commit([]grid.Record{task(1)}); err != nil {
			t.Fatal(err)
		}
		if err := c.lose(dir); err != nil {
			t.Fatal(err)
		}
		t.Log(how)
		wantError(t, s.Commit([]grid.Record{task(2)}), ErrGone, dir, c.file+" is gone")
	}
}
