//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skep/grid"
)

// grouped opens a sandbox that has control groups.
func grouped(t *testing.T) *Sandbox {
	t.Helper()
	s := open(t, nil)
	if s.groups == nil {
		t.Skip("no control groups here")
	}
	return s
}

func strictly(p *Spec) { p.Strict, p.Network, p.Memory, p.Procs = true, grid.NetworkNone, 64<<20, 40 }

// A control group has one box at a time, however often a box is closed and whatever is left in it.
func TestGroupIsOfOneBox(t *testing.T) {
	s := grouped(t)
	first := begin(t, s, `echo ready; exec sleep 1000`, strictly)
	first.line()
	first.group.release() // as if it had been empty
	second := begin(t, s, `echo ready; exec sleep 1000`, strictly)
	second.line()
	if first.group == second.group {
		t.Fatal("two boxes are in one group")
	}
	used := first.group
	first.Signal(unix.SIGKILL)
	first.end()
	third := take(t, s, used) // a stub stays for a moment after it has told its end
	second.Signal(unix.SIGKILL)
	second.end()
	second.Close()
	second.Close()
	n := 0
	for _, x := range s.groups.used {
		if x == second.group {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the group of a box that was closed twice is there for %d others", n)
	}
	third.release()
}

// take waits until a group is to be had again.
func take(t *testing.T, s *Sandbox, want *group) *group {
	t.Helper()
	var others []*group
	defer func() {
		for _, x := range others {
			x.release()
		}
	}()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		x, err := s.groups.take(&Spec{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		if x == want {
			return x
		}
		others = append(others, x)
	}
	t.Fatal("an empty group is not used again")
	return nil
}

// A bound that no box can be made with is raised to one that it can, and a group that cannot be had leaves nothing.
func TestGroupsAreNotLost(t *testing.T) {
	s := grouped(t)
	for range 3 {
		if out, _ := begin(t, s, `echo made`, func(p *Spec) { strictly(p); p.Memory = 1 }).end(); out != "made\n" {
			t.Errorf("with a byte of memory: %q", out)
		}
	}
	count := func() int {
		dirs, _ := filepath.Glob(s.groups.bases[0] + "/task-*")
		return len(dirs)
	}
	before, good := count(), s.groups.bases
	s.groups.used = nil
	s.groups.bases = append([]string{good[0]}, filepath.Join(t.TempDir(), "missing"))
	for range 3 {
		if _, err := s.groups.take(&Spec{Strict: true}); err == nil {
			t.Error("a group was made that cannot be")
		}
	}
	if s.groups.bases = good; count() != before {
		t.Errorf("%d groups, %d before", count(), before)
	}
}

// Groups of nodes that are gone are removed, and no others: whose process has which number does not matter.
func TestGroupsAreSwept(t *testing.T) {
	s := grouped(t)
	if s.groups.unified {
		t.Skip("its groups are made below the root")
	}
	base := s.groups.bases[0]
	left := filepath.Join(filepath.Dir(base), "skep-of-nobody")
	if err := os.MkdirAll(filepath.Join(left, "task-1"), 0o755); err != nil {
		t.Fatal(err)
	}
	other := openGroups()
	if other == nil {
		t.Fatal("another node has no groups")
	}
	defer other.close()
	if exists(left) || !exists(base) || !exists(other.bases[0]) {
		t.Errorf("left over: %v; of this node: %v; of the other: %v", exists(left), exists(base), exists(other.bases[0]))
	}
	if other.bases[0] == base {
		t.Error("both have one group")
	}
}

// Nodes that start at the same time sweep what others make, and all have groups.
func TestNodesThatStartTogetherHaveGroups(t *testing.T) {
	if s := grouped(t); s.groups.unified {
		t.Skip("its groups are made below the root")
	}
	var starts sync.WaitGroup
	for range 8 {
		starts.Go(func() {
			for range 50 {
				g := openGroups()
				if g == nil {
					t.Error("a node has no groups")
				}
				g.close()
			}
		})
	}
	starts.Wait()
}

// A node that has a group to itself is alone in it when it looks, before it has a zygote, and moves out of the way of
// its tasks.
func TestGroupOfTheNodeAloneIsDivided(t *testing.T) {
	if !ownMounts(t) {
		return
	}
	if err := errors.Join(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount("none", cgroupRoot, "cgroup2", 0, "")); err != nil {
		t.Skip("no cgroup v2 here: ", err)
	}
	name := fmt.Sprint("skep-test-", os.Getpid())
	own := filepath.Join(cgroupRoot, name)
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		write(filepath.Join(cgroupRoot, "cgroup.procs"), fmt.Sprint(os.Getpid()))
		os.Remove(filepath.Join(own, "node"))
		if err := os.Remove(own); err != nil {
			t.Error(err)
		}
	})
	delegated := unix.Setxattr(own, "trusted.delegate", []byte("1"), 0)
	if err := errors.Join(delegated, write(filepath.Join(own, "cgroup.procs"), fmt.Sprint(os.Getpid()))); err != nil {
		t.Skip(err)
	}
	s := open(t, nil)
	moved, _ := os.ReadFile("/proc/self/cgroup")
	bounds, _ := os.ReadFile(filepath.Join(own, "cgroup.controllers"))
	if !strings.Contains(string(moved), ":/"+name+"/node\n") {
		t.Errorf("the node is still in its group: %s", moved)
	}
	if strings.Contains(string(bounds), "memory") && strings.Contains(string(bounds), "pids") && s.groups == nil {
		t.Error("there are no groups for its tasks")
	}
}

// Where tasks are not below the node's own group, the least of the bounds that hold for that are written to theirs.
func TestBoundsAreInherited(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"a/memory.max": "5000\n", "a/b/memory.max": "max\n",
		"a/b/c/memory.max": "7000\n",
		"a/b/pids.max":     "max\n", "to/memory.max": "", "to/pids.max": "unchanged"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(root, "to")
	if err := inherit(filepath.Join(root, "a/b/c"), root, to); err != nil {
		t.Fatal(err)
	}
	memory, _ := os.ReadFile(filepath.Join(to, "memory.max"))
	pids, _ := os.ReadFile(filepath.Join(to, "pids.max"))
	if string(memory) != "5000" || !strings.HasPrefix(string(pids), "unchanged") {
		t.Errorf("memory %q, processes %q", memory, pids)
	}
}

// Niceness counts within a group only, so groups have weights by it, as the kernel gives them to processes.
func TestWeights(t *testing.T) {
	for nice, want := range map[int]int{0: 100, 1: 80, 5: 33, 19: 1} {
		if w := weightOf(nice); w != want {
			t.Errorf("niceness %d: weight %d, want %d", nice, w, want)
		}
	}
}
