//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"skep/exec/sandbox/zygote"
)

// shown are the folders of the machine that every task sees, read-only: programs, libraries, and how the processors are
// built. A folder that is not there is left out. Of Nix and Guix it is the stores and the links to what is installed:
// beside them are sockets.
var shown = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store",
	"/nix/var/nix/profiles",
	"/gnu/store", "/sys/devices/system"}

// tree is what boxes see of the machine.
type tree struct {
	mounts  []zygote.Mount
	links   []zygote.Link
	hidden  []string // folders of the machine that no task sees, without links
	covers  []string // where these would be in the tree
	sockets []string // that are covered
}

// newTree lists it. A link whose target is seen too stays a link, as /bin is one to /usr/bin on most machines.
func newTree(expose []Expose) tree {
	var t tree
	for _, dir := range shown {
		info, err := os.Lstat(dir)
		switch {
		case err != nil:
		case info.Mode()&os.ModeSymlink == 0:
			t.mounts = append(t.mounts, zygote.Mount{Source: dir, Target: dir})
		default:
			to, err := os.Readlink(dir)
			real, resolved := filepath.EvalSymlinks(dir)
			if err == nil && resolved == nil && t.shows(real) {
				t.links = append(t.links, zygote.Link{Target: to, Path: dir})
			} else if resolved == nil {
				t.mounts = append(t.mounts, zygote.Mount{Source: real, Target: dir})
			}
		}
	}
	for i, e := range expose {
		if slices.ContainsFunc(expose[:i], func(x Expose) bool { return x.Path == e.Path && (x.Writable || !e.Writable) }) {
			continue // for another account
		}
		t.mounts = slices.DeleteFunc(t.mounts, func(m zygote.Mount) bool { return m.Target == e.Path })
		t.mounts = append(t.mounts, zygote.Mount{Source: e.Path, Target: e.Path, Writable: e.Writable,
			Devices: isDevice(e.Path)})
	}
	// outer ones first
	slices.SortStableFunc(t.mounts, func(a, b zygote.Mount) int { return len(a.Target) - len(b.Target) })
	return t
}

// shows reports whether tasks see a path of the machine at the same place.
func (t *tree) shows(path string) bool {
	return slices.ContainsFunc(t.mounts, func(m zygote.Mount) bool {
		return m.Source == m.Target &&
			inside(path, m.Target)
	})
}

// Shows reports whether tasks see what is at a path of the machine. Of links it looks at where they lead.
func (s *Sandbox) Shows(path string) bool {
	if !s.Boxes() {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	if s.tree.hides(real) {
		return false
	}
	if s.tree.shows(real) {
		return true
	}
	info, err := os.Stat(real)
	return inside(real, "/etc") && err == nil && info.Mode().Perm()&0o004 != 0
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func identity(info os.FileInfo) (dev, ino uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return uint64(st.Dev), st.Ino
}
