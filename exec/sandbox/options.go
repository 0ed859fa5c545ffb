package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skep/exec/account"
	"skep/grid"
)

// Options are what all boxes of a node have in common.
type Options struct {
	// Level is the least that is asked for. With grid.IsolationNone no boxes are made and commands run as they are.
	// With another one Open makes boxes as good as it can; whether that is enough the caller decides by what Open
	// found.
	Level grid.Isolation

	// Work is the folder that holds a folder for each attempt. A box sees its own as zygote.Task.
	Work string

	// Dir is a folder of the node in which Open keeps what it needs: the place on which boxes' tree is made, which has
	// nothing in it outside of them.
	Dir string

	// Hidden are folders of this node, and maybe of others, that no task sees though they lie in what tasks see: the
	// data folder. The probe tries to reach them.
	Hidden []string

	// Expose are further files and folders of the machine that tasks see, at the same path.
	Expose []Expose

	// Devices are device files of the machine of which each box gets those that its Spec names.
	Devices []string

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

	// Grant says as which account of this machine those tasks run which ask for the folder as their work folder or home.
	account.Grant
}

// ParseExpose reads DIR[:ro|:rw][:as=USER:for=NAME[@NODE]...], where NODE is the ID of a node and NAME may be *.
func ParseExpose(s string) (Expose, error) {
	words := strings.Split(s, ":")
	e := Expose{Path: words[0]}
	mode := ""
	for _, word := range words[1:] {
		if mode == "" && (word == "rw" || word == "ro") {
			mode, e.Writable = word, word == "rw"
		} else if err := e.Grant.Add(word); err != nil {
			return e, fmt.Errorf("expose %q: %w", s, err)
		}
	}
	if !filepath.IsAbs(e.Path) || filepath.Clean(e.Path) != e.Path || e.Path == "/" {
		return e, fmt.Errorf("expose %q: want the absolute path of a file or folder, without . and .. in it, and not /",
			s)
	}
	if err := e.Grant.Check(); err != nil {
		return e, fmt.Errorf("expose %q: %w", s, err)
	}
	return e, e.check()
}

// String is the inverse of ParseExpose.
func (e *Expose) String() string {
	words := []string{e.Path}
	if e.Writable {
		words = append(words, "rw")
	}
	return strings.Join(append(words, e.Grant.Words()...), ":")
}

// Covers reports whether a path is the exposed one or in it.
func (e *Expose) Covers(path string) bool { return inside(path, e.Path) }

// check reports why a path cannot be shown.
func (e *Expose) check() error {
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

const (
	maxExposed = 240 // bytes of a path
	maxExposes = 48  // exposed files and folders
	maxDevices = 512 // device files
)

// ownPlaces are paths at which each box has what is its own.
var ownPlaces = []string{"/task", "/tmp", "/var/tmp", "/proc", "/dev/shm", "/dev/pts", "/dev/mqueue"}

// shown are the files and folders that tasks see besides the usual ones, and the devices.
func (o *Options) shown() []Expose {
	all := slices.DeleteFunc(slices.Clone(o.Expose), func(e Expose) bool { return slices.Contains(o.Devices, e.Path) })
	for _, d := range o.Devices {
		all = append(all, Expose{Path: d, Writable: true})
	}
	return all
}

// check reports what cannot be exposed: what the node hides, and what it is in.
func (o *Options) check() error {
	if len(o.Expose) > maxExposes {
		return fmt.Errorf("expose: %d files and folders: want at most %d", len(o.Expose), maxExposes)
	}
	if len(o.Devices) > maxDevices {
		return fmt.Errorf("devices: %d files: want at most %d", len(o.Devices), maxDevices)
	}
	for _, d := range o.Devices {
		if !isDevice(d) || len(d) > maxExposed {
			return fmt.Errorf("device %s: is not there, or no device file", d)
		}
	}
	for _, h := range o.Hidden {
		if info, err := os.Stat(h); err != nil {
			return fmt.Errorf("hide %s: %w", h, err)
		} else if !info.IsDir() {
			return fmt.Errorf("hide %s: it is a file: want a folder", h)
		}
	}
	for i := range o.Expose {
		e := &o.Expose[i]
		if err := e.check(); err != nil {
			return err
		}
		if _, err := e.Grant.IDs(); err != nil {
			return fmt.Errorf("expose %s: %w", e, err)
		}
		for k := range o.Expose[:i] {
			x := &o.Expose[k]
			if x.Path == e.Path && x.As == e.As {
				return fmt.Errorf("expose %s: is said twice: want it once", e)
			}
			if x.As == e.As && !slices.Equal(x.For, e.For) {
				return fmt.Errorf("expose %s: the account is %s's for others: want the same for= wherever it is, since a "+
					"task sees all that is exposed", e, x.Path)
			}
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

func isDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&os.ModeDevice != 0
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
