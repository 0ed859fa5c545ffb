package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skep/grid"
)

// Options are what all boxes of a node have in common.
type Options struct {
	// Level is the least that is asked for. With grid.IsolationNone no boxes are made and commands run as they are. With
	// another one Open makes boxes as good as it can; whether that is enough the caller decides by what Open found.
	Level grid.Isolation

	// Work is the folder that holds a folder for each attempt. A box sees its own as zygote.Task.
	Work string

	// Dir is a folder of the node in which Open keeps what it needs: the place on which boxes' tree is made, which has
	// nothing in it outside of them.
	Dir string

	// Hidden are folders of this node, and maybe of others, that no task sees though they lie in what tasks see: the data
	// folder. The probe tries to reach them.
	Hidden []string

	// Expose are further files and folders of the machine that tasks see, at the same path.
	Expose []Expose

	// IDs are the user IDs from which, where the node is root, each attempt gets one. Default DefaultRange; where the user
	// namespace of the node does not have that, one that it has.
	IDs Range

	// Warn tells the operator what has gone wrong since Open, and why. Default: nobody is told.
	Warn func(what string, err error)

	// Slots is how many cores the node gives to tasks, by which the processes that all of them may have are divided.
	// Default: the processors of the machine.
	Slots int

	// Landlock is the newest version of Landlock to use, for tests of older kernels; 0 = whatever the kernel has, −1 =
	// none.
	Landlock int
}

// Expose is a file or folder that tasks see besides the usual ones.
type Expose struct {
	Path     string
	Writable bool
}

// ParseExpose reads DIR or DIR:rw.
func ParseExpose(s string) (Expose, error) {
	path, mode, found := strings.Cut(s, ":")
	e := Expose{Path: path, Writable: mode == "rw"}
	switch {
	case found && mode != "rw" && mode != "ro":
		return e, fmt.Errorf("expose %q: mode %q: want ro or rw", s, mode)
	case !filepath.IsAbs(path) || filepath.Clean(path) != path || path == "/":
		return e, fmt.Errorf("expose %q: want the absolute path of a file or folder, without . and .. in it, and not /", s)
	}
	return e, e.check()
}

// check reports why a path cannot be shown.
func (e Expose) check() error {
	if len(e.Path) > maxExposed {
		return fmt.Errorf("expose %s: its path has %d bytes: want at most %d", e.Path, len(e.Path), maxExposed)
	}
	if e.Path == "/etc" {
		return fmt.Errorf("expose /etc: tasks have a copy of it, without keys and passwords: want a file or folder in it")
	}
	for _, own := range ownPlaces {
		if inside(e.Path, own) || inside(own, e.Path) {
			return fmt.Errorf("expose %s: each task has a %s of its own: want another folder", e.Path, own)
		}
	}
	return nil
}

// String is the inverse of ParseExpose.
func (e Expose) String() string {
	if e.Writable {
		return e.Path + ":rw"
	}
	return e.Path
}

const (
	maxExposed = 240 // bytes of a path
	maxExposes = 48  // exposed files and folders
)

// ownPlaces are paths at which each box has what is its own.
var ownPlaces = []string{"/task", "/tmp", "/var/tmp", "/proc", "/dev/shm", "/dev/pts", "/dev/mqueue"}

// check reports what cannot be exposed: what the node hides, and what it is in.
func (o *Options) check() error {
	if len(o.Expose) > maxExposes {
		return fmt.Errorf("expose: %d files and folders: want at most %d", len(o.Expose), maxExposes)
	}
	for _, h := range o.Hidden {
		if info, err := os.Stat(h); err != nil {
			return fmt.Errorf("hide %s: %w", h, err)
		} else if !info.IsDir() {
			return fmt.Errorf("hide %s: it is a file: want a folder", h)
		}
	}
	for _, e := range o.Expose {
		if err := e.check(); err != nil {
			return err
		}
		real, err := realPath(e.Path)
		if err != nil {
			return fmt.Errorf("expose %s: %w", e.Path, err)
		}
		for _, h := range slices.Concat(o.Hidden, []string{o.Work, o.Dir}) {
			hidden, err := realPath(h)
			switch {
			case err != nil:
			case inside(real, hidden):
				return fmt.Errorf("expose %s: it is in %s, which tasks must not see: want another folder", e.Path, h)
			case e.Writable && inside(hidden, real):
				return fmt.Errorf("expose %s: %s is in it, which tasks must not see and could rename there: want another "+
					"folder, or it read-only", e, h)
			}
		}
	}
	return nil
}

// realPath is the absolute path of a file without links in it.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// inside reports whether path is dir or beneath it.
func inside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
