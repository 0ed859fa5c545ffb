package intact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrTaken reports that files which the node has made for a task were taken away.
var ErrTaken = errors.New("was taken away from under the task")

// Files are those that a node has made for one attempt. The zero value has none. Not safe for concurrent use.
type Files struct {
	work   string      // the task's folder
	folder os.FileInfo // what it was when it was made; nil = it is not made yet
	placed []file
}

// file is one that was put into a folder of the task.
type file struct {
	path string
	size int64
}

// Made notes the folder of the task, which is there.
func (f *Files) Made(work string) (err error) {
	f.work, f.placed = work, nil
	f.folder, err = os.Lstat(work)
	return err
}

// Placed notes a file that was put there for the task.
func (f *Files) Placed(path string, size int64) { f.placed = append(f.placed, file{path, size}) }

// Missing says what is not there, or not as it was made; nil = all is. For as long as nothing of the task has run.
func (f *Files) Missing() error {
	if err := f.FolderGone(); err != nil {
		return err
	}
	for _, x := range f.placed {
		info, err := os.Lstat(x.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s %w", x.path, ErrTaken)
		case err != nil:
			return err
		case info.Size() != x.size:
			return fmt.Errorf("%s has %d bytes where %d were put: it %w", x.path, info.Size(), x.size, ErrTaken)
		}
	}
	return nil
}

// FolderGone says that the folder of the task is not the one that was made for it; nil = it is.
func (f *Files) FolderGone() error {
	if f.folder == nil {
		return nil
	}
	now, err := os.Lstat(f.work)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !os.SameFile(f.folder, now):
		return fmt.Errorf("%s %w", f.work, ErrTaken)
	}
	return err
}
