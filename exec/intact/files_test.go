package intact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// made returns the files of an attempt that has two inputs, one in a folder.
func made(t *testing.T) (f *Files, work string) {
	t.Helper()
	work = filepath.Join(t.TempDir(), "work")
	f = new(Files)
	must(t, os.MkdirAll(filepath.Join(work, "data"), 0o700))
	must(t, f.Made(work))
	for name, text := range map[string]string{"in": "one", "data/in": ""} {
		must(t, os.WriteFile(filepath.Join(work, name), []byte(text), 0o600))
		f.Placed(filepath.Join(work, name), int64(len(text)))
	}
	return f, work
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Whatever is taken away before a task begins is found. Once it runs only its folder is the node's.
func TestWhatIsTakenAway(t *testing.T) {
	for _, c := range []struct {
		what    string
		take    func(work string) error
		missing bool // before the task begins
		gone    bool // at its end
	}{
		{"nothing", func(string) error { return nil }, false, false},
		{"an input", func(w string) error { return os.Remove(w + "/in") }, true, false},
		{"an empty input", func(w string) error { return os.Remove(w + "/data/in") }, true, false},
		{"a folder of inputs", func(w string) error { return os.RemoveAll(w + "/data") }, true, false},
		{"what an input holds", func(w string) error { return os.Truncate(w+"/in", 1) }, true, false},
		{"the folder", os.RemoveAll, true, true},
		{"the folder, and another one is made", func(w string) error {
			return errors.Join(os.Rename(w, w+"-aside"), os.Mkdir(w, 0o700))
		}, true, true},
		{"the folder, and a link to it is made", func(w string) error {
			return errors.Join(os.Rename(w, w+"-aside"), os.Symlink(w+"-aside", w))
		}, true, true},
	} {
		f, work := made(t)
		must(t, c.take(work))
		for what, got := range map[string]struct {
			err  error
			want bool
		}{"before it begins": {f.Missing(), c.missing}, "at its end": {f.FolderGone(), c.gone}} {
			if errors.Is(got.err, ErrTaken) != got.want || got.want != (got.err != nil) || Fault(got.err) != got.want {
				t.Errorf("%s is taken away: %s it is found to be %v", c.what, what, got.err)
			}
		}
	}
}

// Nothing is missing where nothing was made.
func TestNothingWasMade(t *testing.T) {
	var f Files
	if err := f.Missing(); err != nil {
		t.Error(err)
	}
}

// What a task asks for in vain is no fault of the machine.
func TestFaults(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, fs.ErrNotExist: false, fs.ErrPermission: false, syscall.ENOTDIR: false, syscall.EISDIR: false,
		syscall.ENAMETOOLONG: false, syscall.ELOOP: false, syscall.ENOSPC: true, syscall.EIO: true, syscall.EROFS: true,
	} {
		wrapped := err
		if err != nil {
			wrapped = fmt.Errorf("input: %w", &fs.PathError{Op: "open", Path: "x", Err: err})
		}
		if Fault(wrapped) != want {
			t.Errorf("%v: a fault of the machine is %v, want %v", err, !want, want)
		}
	}
}
