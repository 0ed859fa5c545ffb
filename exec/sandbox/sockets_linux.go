//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox/zygote"
)

// A read-only mount does not keep anybody from connecting to a socket in it [1], so those in places that the machine
// fills as it likes are covered in the tree: by what lies there when the node starts, and what listens then by the
// kernel's list.
//
//	[1] unix(7), under Pathname socket ownership and permissions: it takes the right to write to the socket, not to
//	    its file system.

// unmanaged are shown folders in which a daemon may have its socket. The others of shown are those of package managers.
var unmanaged = []string{"/opt"}

// socketsLooked is how many entries of a folder are looked at for sockets: a large one is read in a second.
// Of the sockets found so many are covered.
const (
	socketsLooked  = 300_000
	socketsCovered = 256
)

// findSockets lists the sockets in open folders and in those that are exposed read-only, by where the tree has them.
// One that is exposed by its own name is to be reached, and what is in a folder exposed for writing is what tasks share
// with the machine.
func (t *tree) findSockets(expose []Expose) (finds []Finding) {
	listening := realSockets(listeners("/proc/net/unix"))
	look := func(dir, target string, finding bool) {
		real, err := realPath(dir)
		if err != nil {
			return
		}
		found, all := socketsIn(real, socketsLooked)
		for _, path := range listening {
			if inside(path, real) {
				found = append(found, path)
			}
		}
		for _, path := range found {
			t.sockets = append(t.sockets, filepath.Join(target, strings.TrimPrefix(path, real)))
		}
		if !all && finding {
			finds = append(finds, Finding{Property: Kernel, Remedy: "hide a part of it from tasks (--hide)",
				What: fmt.Sprintf("%s has more than %d entries: a socket further on, of somebody who is not listening now, is "+
					"not covered",
					dir, socketsLooked)})
		}
	}
	for _, dir := range unmanaged {
		if slices.ContainsFunc(t.mounts, func(m zygote.Mount) bool { return m.Target == dir && !m.Writable }) {
			look(dir, dir, true)
		} else if real, err := realPath(dir); err == nil && t.shows(real) { // a link in the tree too
			look(dir, real, true)
		}
	}
	for _, e := range expose {
		if !e.Writable && isFolder(e.Path) {
			look(e.Path, e.Path, false)
		}
	}
	t.sockets = slices.DeleteFunc(t.sockets, func(path string) bool {
		return slices.ContainsFunc(expose, func(e Expose) bool {
			return e.Path == path || e.Writable &&
				inside(path, e.Path)
		})
	})
	slices.Sort(t.sockets)
	if t.sockets = slices.Compact(t.sockets); len(t.sockets) > socketsCovered {
		finds = append(finds, Finding{Property: Kernel, Remedy: "hide their folders from tasks (--hide)",
			What: fmt.Sprintf("%d sockets lie in what tasks see: %d of them are covered", len(t.sockets), socketsCovered)})
		t.sockets = t.sockets[:socketsCovered]
	}
	return finds
}

// socketsIn lists the sockets in a folder, which is no link; all is false if it has more entries than are looked at.
func socketsIn(dir string, most int) (found []string, all bool) {
	for dirs := []string{dir}; len(dirs) > 0; {
		at := dirs[len(dirs)-1]
		dirs = dirs[:len(dirs)-1]
		f, err := os.OpenFile(at, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		for err == nil && most > 0 {
			var entries []os.DirEntry
			entries, err = f.ReadDir(1024)
			most -= len(entries)
			for _, d := range entries {
				switch path := filepath.Join(at, d.Name()); {
				case d.IsDir():
					dirs = append(dirs, path)
				case d.Type()&os.ModeSocket != 0:
					found = append(found, path)
				}
			}
		}
		f.Close()
		if most <= 0 {
			return found, false
		}
	}
	return found, true
}

// listeners are the paths of the sockets that the kernel lists, as their owners named them: the eighth field of a line.
func listeners(list string) (paths []string) {
	text, err := os.ReadFile(list)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if _, path, found := strings.Cut(strings.TrimRight(line, "\n"), " /"); found {
			paths = append(paths, filepath.Clean("/"+path))
		}
	}
	return paths
}

// realSockets are those of the paths at which sockets are, each without links in it: a daemon may name another way to
// its folder than the operator does.
func realSockets(paths []string) (real []string) {
	for _, path := range paths {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if path = filepath.Join(dir, filepath.Base(path)); err == nil && isSocket(path) {
			real = append(real, path)
		}
	}
	return real
}

func isSocket(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSocket != 0
}
