package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"skep/exec/process"
)

const (
	state  = "state"  // in the work folder: the program's
	closed = "closed" // beside the work folder: the node's

	maxEntries = 1000 // of the folder state that are looked at
)

// Close takes the checkpoints that a task says are closed from its work folder, a folder in dir, the folder of the
// attempt. It returns those that are there. Older ones that the work folder still has are removed.
func Close(dir, work string, steps []uint64) (there []uint64, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("checkpoints: %w", err)
	}
	defer root.Close()
	if err := root.Mkdir(closed, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("checkpoints: %w", err)
	}
	var problems []error
	for _, k := range steps {
		if err := take(root, work, k); err != nil {
			problems = append(problems, fmt.Errorf("checkpoint %d: %w", k, err))
			continue
		}
		there = append(there, k)
	}
	if len(there) > 0 {
		removeBefore(dir, root, path.Join(work, state), there[0])
	}
	return there, errors.Join(problems...)
}

func name(k uint64) string { return strconv.FormatUint(k, 10) }

func take(root *os.Root, work string, k uint64) error {
	from := path.Join(work, state, name(k))
	info, err := root.Lstat(from)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", path.Join(state, name(k)))
	}
	if err != nil {
		return err
	}
	return root.Rename(from, path.Join(closed, name(k)))
}

// removeBefore removes the checkpoints before k from a folder. What cannot be removed goes at the end of the attempt.
func removeBefore(dir string, root *os.Root, folder string, k uint64) {
	for _, old := range list(root, folder) {
		if old < k {
			remove(dir, root, path.Join(folder, name(old)))
		}
	}
}

// remove removes what is called name in dir, opened as root. It is moved first: a task may have replaced the folders on
// the way by links. os.Root.RemoveAll would open as many folders as a task has nested.
func remove(dir string, root *os.Root, name string) {
	to := "removed-" + strconv.FormatUint(rand.Uint64(), 36)
	if root.Rename(name, to) == nil {
		process.Remove(filepath.Join(dir, to))
	}
}

// list returns the checkpoints in a folder, in no order.
func list(root *os.Root, folder string) (steps []uint64) {
	f, err := root.Open(folder)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(maxEntries)
	for _, e := range entries {
		if k, err := strconv.ParseUint(e.Name(), 10, 64); err == nil && name(k) == e.Name() {
			steps = append(steps, k)
		}
	}
	return steps
}

// Keep removes the closed checkpoints of the attempt in dir up to a newest one, but for some.
func Keep(dir string, steps []uint64, newest uint64) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	for _, k := range list(root, closed) {
		if k <= newest && !slices.Contains(steps, k) {
			remove(dir, root, path.Join(closed, name(k)))
		}
	}
}

// Open opens the folder of a closed checkpoint of the attempt in dir. The caller closes it.
func Open(dir string, k uint64) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenRoot(path.Join(closed, name(k)))
}

// Bounds are those of a checkpoint of one rank.
type Bounds struct {
	Files int   // how many
	Path  int   // bytes of a path
	Size  int64 // bytes of all files
}

// Fits says why the files of a checkpoint, opened as root, are beyond the bounds; nil = they are not. Nothing is read.
func Fits(root *os.Root, names []string, most Bounds) error {
	if len(names) > most.Files {
		return fmt.Errorf("%d files: want at most %d", len(names), most.Files)
	}
	size := int64(0)
	for _, name := range names {
		if len(name) > most.Path {
			return fmt.Errorf("a path of %d bytes: want at most %d", len(name), most.Path)
		}
		info, err := root.Lstat(name)
		if err != nil {
			return err
		}
		size += min(info.Size(), most.Size+1) // no sum overflows
	}
	if size > most.Size {
		return fmt.Errorf("it has %.1f MiB: want at most %.1f", float64(size)/(1<<20), float64(most.Size)/(1<<20))
	}
	return nil
}
