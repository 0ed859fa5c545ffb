package attack

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
)

// Options are what a run is told.
type Options struct {
	Skep, Intruder string // the built programs

	// Environment is what the report calls the place in which it runs.
	Environment string

	// Landlock is the newest version that the node may use; empty for what the kernel has. Isolation is what the node is
	// told to reach; empty for as good as can be.
	Landlock, Isolation string

	// Short leaves out what takes long: of the attacks on bounds it tries some.
	Short bool

	// Dir is a folder in which the run makes its own. It must not be below /tmp, /var/tmp or /usr, of which boxes have
	// their own. Empty: the home folder, /srv or /var/lib, whichever can be written.
	Dir string
}

// errFolder is why there can be no run.
var errFolder = errors.New("no folder to run in can be written: tried the home folder, /srv, /var/lib and the " +
	"current one: name one")

// folder makes the folder of a run.
func (o *Options) folder() (string, error) {
	home, _ := os.UserHomeDir()
	here, _ := os.Getwd()
	dirs := []string{o.Dir, home, "/srv", "/var/lib", here}
	if os.Getuid() == 0 { // into root's home tasks without boxes cannot pass
		dirs = []string{o.Dir, "/srv", "/var/lib", home, here}
	}
	for _, dir := range dirs {
		if dir == "" || dir == "/" || own(dir) {
			continue
		}
		base, err := os.MkdirTemp(dir, "skep-attack-")
		if err == nil {
			return base, os.Chmod(base, 0o711)
		}
		if o.Dir != "" {
			return "", err
		}
	}
	return "", errFolder
}

// own reports whether boxes have such a folder of their own.
func own(dir string) bool {
	for at := filepath.Clean(dir); at != "/" && at != "."; at = filepath.Dir(at) {
		switch at {
		case "/tmp", "/var/tmp", "/dev", "/proc", "/usr", "/opt", "/etc":
			return true
		}
	}
	return false
}

func (o *Options) landlock() string { return cmp.Or(o.Landlock, "kernel's") }
