package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const line = "what is kept\n"

// save writes a line to a file atomically; the flags leave out a sync.
func save(dir string, syncFile, syncNames bool) error {
	f, err := os.CreateTemp(dir, "new-")
	if err != nil {
		return err
	}
	if _, err = f.WriteString(line); err == nil && syncFile {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close(), os.Rename(f.Name(), filepath.Join(dir, "kept"))); err != nil {
		return err
	}
	if syncNames {
		d, err := os.Open(dir)
		if err != nil {
			return err
		}
		defer d.Close()
		if err := d.Sync(); err != nil {
			return err
		}
	}
	fmt.Println("kept")
	return nil
}

func TestMain(m *testing.M) {
	Main(map[string]func(string) error{
		"careful":  func(dir string) error { return save(dir, true, true) },
		"no sync":  func(dir string) error { return save(dir, false, true) },
		"no names": func(dir string) error { return save(dir, true, false) },
		"folders":  folders,
	})
	os.Exit(m.Run())
}

// folders makes one call of each recorded kind or more.
func folders(dir string) error {
	sub := filepath.Join(dir, "a", "b")
	f := func() error {
		f, err := os.OpenFile(filepath.Join(sub, "file"), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteAt([]byte(strings.Repeat("x", 10_000)), 5000)
		return errors.Join(err, f.Truncate(12_000), f.Truncate(13_000))
	}
	return errors.Join(os.MkdirAll(sub, 0o700), f(), os.WriteFile(filepath.Join(dir, "gone"), []byte(line), 0o600),
		os.Mkdir(filepath.Join(dir, "empty"), 0o700), os.RemoveAll(filepath.Join(dir, "empty")),
		os.WriteFile(filepath.Join(dir, "gone"), []byte("x"), 0o600), os.Remove(filepath.Join(dir, "gone")),
		os.Rename(sub, filepath.Join(dir, "c")))
}

// check expects the acknowledged content of the file, and never a part.
func check(dir string, acked []string) error {
	b, err := os.ReadFile(filepath.Join(dir, "kept"))
	switch {
	case err != nil && len(acked) == 0:
		return nil
	case err != nil:
		return err
	case string(b) != line:
		return fmt.Errorf("it holds %q", b)
	}
	return nil
}

// With both syncs, acknowledged content survives any crash; without one of them it does not.
func TestWhatACrashLeaves(t *testing.T) {
	seeds := uint64(8)
	if testing.Short() {
		seeds = 3
	}
	for script, want := range map[string]string{"careful": "", "no sync": "it holds", "no names": "no such file"} {
		j := Recorded(t, script)
		var found error
		for seed := range seeds {
			found = errors.Join(found, j.Each(t.TempDir(), rand.New(rand.NewPCG(seed, 1)), 1, check))
		}
		if want == "" && found != nil || want != "" && (found == nil || !strings.Contains(found.Error(), want)) {
			t.Errorf("%s: %v: want %q", script, found, want)
		}
	}
}

// The recorded tree equals the real one, also if the process is killed, at every call.
func TestRecordsAll(t *testing.T) {
	j := Recorded(t, "folders")
	if j.Len() < 12 {
		t.Errorf("%d calls: %v", j.Len(), j.ops)
	}
	for n := range j.Len() {
		if _, err := Kill("folders", t.TempDir(), n); err != nil {
			t.Errorf("killed at call %d: %v", n, err)
		}
	}
	if acked, err := Kill("careful", t.TempDir(), 4); err != nil || len(acked) > 0 {
		t.Errorf("killed early: %q, %v", acked, err)
	}
}
