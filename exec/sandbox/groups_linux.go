//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// groups are control groups of the kernel, in which it keeps the bounds of boxes itself [2]. They are used again and
// again: to make one for each task would cost what half a short task does.
type groups struct {
	unified bool
	bases   []string // a folder for each hierarchy: of the unified one, or of memory and pids
	locks   []*os.File

	mu   sync.Mutex
	used []*group // whose boxes are closed
	made int
}

const cgroupRoot = "/sys/fs/cgroup"

// openGroups finds where this process may make groups; nil if nowhere. In the old hierarchies root makes them below its
// own group. In the unified one a group with processes has no groups with bounds below it, so the node moves down from
// its own if that is its alone, as `systemd-run --scope -p Delegate=yes` makes one; else root makes them below the
// root, with the bounds of its own.
func openGroups() *groups {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	own := make(map[string]string) // by controller, "" for the unified hierarchy
	for line := range strings.Lines(string(text)) {
		if f := strings.SplitN(strings.TrimSpace(line), ":", 3); len(f) == 3 {
			for _, c := range strings.Split(f[1], ",") {
				own[c] = f[2]
			}
		}
	}
	g := &groups{}
	var fs unix.Statfs_t
	if unix.Statfs(cgroupRoot, &fs) == nil && fs.Type == unix.CGROUP2_SUPER_MAGIC {
		g.unified = true
		err = g.openUnified(path.Join(cgroupRoot, own[""]))
	} else {
		for _, c := range [...]string{"memory", "pids"} {
			at, there := own[c]
			if !there {
				err = os.ErrNotExist
			}
			if err == nil {
				err = g.add(path.Join(cgroupRoot, c, at))
			}
		}
	}
	if err != nil {
		g.close()
		return nil
	}
	return g
}

// openUnified makes a group for the tasks of this node, with the controllers that bound memory and processes.
func (g *groups) openUnified(own string) error {
	if os.Geteuid() == 0 && !delegated(own) {
		if err := g.add(cgroupRoot); err != nil {
			return err
		}
		if err := errors.Join(enable(cgroupRoot), enable(g.bases[0])); err != nil {
			return err
		}
		return inherit(own, cgroupRoot, g.bases[0])
	}
	if !alone(own) {
		return os.ErrPermission
	}
	if err := os.Mkdir(path.Join(own, "node"), 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := write(path.Join(own, "node", "cgroup.procs"), strconv.Itoa(os.Getpid())); err != nil {
		return err
	}
	if err := enable(own); err != nil {
		return err
	}
	if err := g.add(own); err != nil {
		return err
	}
	return enable(g.bases[0])
}

// add makes a group for all tasks of this node below a folder, by a name that nobody else has, and removes those of
// nodes that are gone: a node holds a lock on its own. Another node may sweep the group before that lock is held; then
// a new one is made.
func (g *groups) add(below string) (err error) {
	sweep(below)
	for range 10 {
		base := path.Join(below, fmt.Sprintf("skep-%016x", rand.Uint64()))
		if err = os.Mkdir(base, 0o755); err != nil {
			return err
		}
		var lock *os.File
		if lock, err = lockGroup(base); err == nil {
			g.bases, g.locks = append(g.bases, base), append(g.locks, lock)
			return nil
		}
	}
	return err
}

// lockGroup takes the lock on a node's own group. An error says that another one has swept it, or does.
func lockGroup(base string) (*os.File, error) {
	lock, err := os.Open(base)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
		_, err = os.Stat(base) // it may be gone, with the lock on what is left
	}
	if err != nil {
		lock.Close()
		return nil, err
	}
	return lock, nil
}

// delegated reports whether systemd has given a group to this process alone.
func delegated(dir string) bool {
	var b [8]byte
	for _, name := range [...]string{"trusted.delegate", "user.delegate"} {
		if n, err := unix.Getxattr(dir, name, b[:]); err == nil && string(b[:n]) == "1" {
			return alone(dir)
		}
	}
	return false
}

// inherit gives a group the least bounds that hold for another and for those above it, up to the root.
func inherit(from, root, to string) error {
	for _, file := range [...]string{"memory.max", "pids.max"} {
		least := int64(0)
		for dir := from; strings.HasPrefix(dir, root+"/"); dir = path.Dir(dir) {
			if n := readNumber(path.Join(dir, file)); n > 0 && (least == 0 || n < least) {
				least = n
			}
		}
		if least > 0 {
			if err := write(path.Join(to, file), strconv.FormatInt(least, 10)); err != nil {
				return err
			}
		}
	}
	return nil
}

// enable lets the groups below one have bounds.
func enable(dir string) error {
	err := write(path.Join(dir, "cgroup.subtree_control"), "+memory +pids")
	write(path.Join(dir, "cgroup.subtree_control"), "+cpu") // good to have
	return err
}

// alone reports whether this process is the only one in a group.
func alone(dir string) bool {
	b, err := os.ReadFile(path.Join(dir, "cgroup.procs"))
	return err == nil && string(bytes.TrimSpace(b)) == strconv.Itoa(os.Getpid())
}

// sweep removes groups of nodes that are gone.
func sweep(base string) {
	dirs, _ := filepath.Glob(path.Join(base, "skep-*"))
	for _, dir := range dirs {
		f, err := os.Open(dir)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			below, _ := filepath.Glob(path.Join(dir, "task-*"))
			for _, d := range append(below, dir) {
				os.Remove(d)
			}
		}
		f.Close()
	}
}

func write(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// close removes all groups; what was not given back goes with the next node's sweep.
func (g *groups) close() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, x := range g.used {
		x.drop()
	}
	g.used = nil
	for _, base := range g.bases {
		os.Remove(base)
	}
	for _, lock := range g.locks {
		lock.Close()
	}
}
