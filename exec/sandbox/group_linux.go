//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
)

// group is one, in each hierarchy.
type group struct {
	all    *groups
	dirs   []string
	procs  []*os.File // cgroup.procs of each
	memory int64
	count  int64
	weight int
	broken bool // nobody can join it
	inPod  bool // its last box shared /dev/shm with others
}

// leastMemory is the least bound of memory: with less there is no room for the stub of the box.
const leastMemory = 4 << 20

// take returns a group with the bounds of a box. In the old hierarchies a process takes up to ten milliseconds to join
// one, so there only a box that must have one gets it.
func (g *groups) take(s *Spec) (*group, error) {
	switch {
	case g == nil && s.Strict:
		return nil, errors.New("control group: there is none to be had here")
	case g == nil, !g.unified && !s.Strict:
		return nil, nil
	}
	x, err := g.get()
	if err != nil {
		return nil, fmt.Errorf("control group: %w", err)
	}
	if err := x.bound(s); err != nil {
		x.drop()
		return nil, fmt.Errorf("control group: %w", err)
	}
	return x, nil
}

// get returns one without processes: a used one, or a new one.
func (g *groups) get() (*group, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := 0; i < len(g.used); i++ {
		x := g.used[i]
		if !x.empty() {
			continue
		}
		g.used = slices.Delete(g.used, i, i+1)
		if !x.charged() {
			return x, nil
		}
		x.drop()
		i--
	}
	g.made++
	x := &group{all: g}
	err := x.make(fmt.Sprint("task-", g.made))
	if err != nil {
		x.drop()
		return nil, err
	}
	return x, nil
}

func (x *group) make(name string) error {
	for _, base := range x.all.bases {
		dir := path.Join(base, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		x.dirs = append(x.dirs, dir)
		f, err := os.OpenFile(path.Join(dir, "cgroup.procs"), os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		x.procs = append(x.procs, f)
	}
	if x.all.unified {
		return write(path.Join(x.dirs[0], "memory.oom.group"), "1")
	}
	return nil
}

// empty reports whether no process is in it. A stub may be there for a moment after it has told its end. A file that
// was read before would tell what it told then.
func (x *group) empty() bool {
	for _, dir := range x.dirs {
		if b, err := os.ReadFile(path.Join(dir, "cgroup.procs")); len(b) > 0 || err != nil {
			return false
		}
	}
	return true
}

// leftMemory is what a group may still be charged with when another box gets it, in bytes.
const leftMemory = 1 << 20

// charged reports whether a box of a pod has left memory in the pod's /dev/shm, which counts in its group as long as
// it is there. Of other groups nothing is left but the caches of files, which the kernel gives up.
func (x *group) charged() bool {
	file := "memory.usage_in_bytes"
	if x.all.unified {
		file = "memory.current"
	}
	return x.inPod && readNumber(path.Join(x.dirs[0], file)) > leftMemory
}

// drop removes a group. One that still has processes goes with the node's last, or with the next node's sweep.
func (x *group) drop() {
	for _, f := range x.procs {
		f.Close()
	}
	for _, dir := range x.dirs {
		os.Remove(dir)
	}
}

// bound sets what is not set already.
func (x *group) bound(s *Spec) error {
	x.inPod = s.Pod != nil
	most := s.Memory
	if most > 0 {
		most = max(most, leastMemory)
	}
	if x.memory != most {
		if err := x.boundMemory(most); err != nil {
			return err
		}
		x.memory = most
	}
	if x.count != s.Procs {
		most := "max"
		if s.Procs > 0 {
			most = strconv.FormatInt(s.Procs, 10)
		}
		if err := write(path.Join(x.dirs[len(x.dirs)-1], "pids.max"), most); err != nil {
			return err
		}
		x.count = s.Procs
	}
	if w := cmp.Or(s.Weight, weightOf(s.Command.Nice)); x.all.unified && x.weight != w {
		file := path.Join(x.dirs[0], "cpu.weight")
		if err := write(file, strconv.Itoa(w)); err != nil && exists(file) {
			return err
		}
		x.weight = w
	}
	return nil
}

// weightOf is the weight of a group whose task has a niceness, which the kernel heeds within a group only: each step is
// a quarter.
func weightOf(nice int) int { return max(1, int(math.Round(100/math.Pow(1.25, float64(nice))))) }

func (x *group) boundMemory(most int64) error {
	dir := x.dirs[0]
	if x.all.unified {
		text := "max"
		if most > 0 {
			text = strconv.FormatInt(most, 10)
		}
		if _, err := os.Stat(path.Join(dir, "memory.swap.max")); err == nil {
			if err := write(path.Join(dir, "memory.swap.max"), "0"); err != nil {
				return err
			}
		}
		return write(path.Join(dir, "memory.max"), text)
	}
	if most == 0 {
		most = -1
	}
	text := strconv.FormatInt(most, 10)
	files := []string{path.Join(dir, "memory.limit_in_bytes")}
	if swap := path.Join(dir, "memory.memsw.limit_in_bytes"); exists(swap) { // which must never be the lower of the two
		files = append(files, swap)
		if most < 0 || x.memory > 0 && most > x.memory {
			slices.Reverse(files)
		}
	}
	for _, f := range files {
		if err := write(f, text); err != nil {
			return err
		}
	}
	return nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// killed is how often the kernel has killed in a group for want of memory.
func (x *group) killed() int64 {
	if x == nil {
		return 0
	}
	file := "memory.events"
	if !x.all.unified {
		file = "memory.oom_control"
	}
	b, _ := os.ReadFile(path.Join(x.dirs[0], file))
	for line := range bytes.Lines(b) {
		if f := bytes.Fields(line); len(f) == 2 && string(f[0]) == "oom_kill" {
			n, _ := strconv.ParseInt(string(f[1]), 10, 64)
			return n
		}
	}
	return 0
}

func (x *group) fds() (fds []int) {
	if x != nil {
		for _, f := range x.procs {
			fds = append(fds, int(f.Fd()))
		}
	}
	return fds
}

// release gives a group back. It is used again when no process is in it.
func (x *group) release() {
	switch {
	case x == nil:
	case x.broken:
		x.drop()
	default:
		x.all.mu.Lock()
		defer x.all.mu.Unlock()
		x.all.used = append(x.all.used, x)
	}
}
