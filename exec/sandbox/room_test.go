//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skep/grid"
)

// However many tasks run, their bounds together leave the reserve.
func TestRoomIsDivided(t *testing.T) {
	for _, c := range []struct {
		left          int64
		slots         int
		first, second int64
		enough        bool
	}{
		{left: 1512, slots: 2, first: 250, second: 250, enough: true},
		{left: 100_000, slots: 2, first: 4096, second: 4096, enough: true},
		{left: 400, slots: 2, first: 50, second: 50, enough: true}, // half is the node's
		{left: 250, slots: 2, first: 4096, second: 4096},           // which a finding tells
		{left: -10, slots: 1, first: 4096, second: 4096},
	} {
		r := newRoom(c.left, "a bound", c.slots)
		first, err1 := r.take(4096, grid.CPU)
		second, err2 := r.take(4096, grid.CPU)
		if err1 != nil || err2 != nil || first != c.first || second != c.second || r.enough() != c.enough {
			t.Errorf("%+v: %d, %d, enough %v, %v, %v", c, first, second, r.enough(), err1, err2)
		}
	}
	if n, err := (*room)(nil).take(7, grid.CPU); n != 7 || err != nil {
		t.Errorf("no room: %d, %v", n, err)
	}
}

// Tasks of a part of a core are as many more and get as much less; when the floor of all of them is the total, a
// further one is to wait, and is not at fault.
func TestRoomOfSmallTasks(t *testing.T) {
	for _, c := range []struct {
		left  int64
		slots int
		cpu   grid.MilliCPU
		count int   // as many fit by the processors, or by the floor
		each  int64 // that they get
		full  bool
	}{
		{left: 63_000, slots: 8, cpu: 100, count: 80, each: 624},
		{left: 63_000, slots: 8, cpu: 2500, count: 3, each: 4096},
		{left: 1512, slots: 2, cpu: 100, count: 20, each: 32},
		{left: 1512, slots: 8, cpu: 100, count: 31, each: 32, full: true},
		{left: 63_000, slots: 8, cpu: 1, count: 1952, each: 32, full: true},
	} {
		r := newRoom(c.left, "a bound of that", c.slots)
		for i := range c.count {
			if n, err := r.take(4096, c.cpu); n != c.each || err != nil {
				t.Fatalf("%+v: task %d gets %d, %v", c, i, n, err)
			}
		}
		if _, err := r.take(4096, c.cpu); c.full &&
			(!errors.Is(err, ErrNoRoom) || !strings.Contains(err.Error(), "a bound of that")) {
			t.Errorf("%+v: one more: %v", c, err)
		}
		if r.taken > r.total {
			t.Errorf("%+v: tasks have %d of %d", c, r.taken, r.total)
		}
		r.give(c.each)
		if n, err := r.take(4096, c.cpu); n < leastProcs || err != nil {
			t.Errorf("%+v: when one has ended: %d, %v", c, n, err)
		}
	}
}

// The groups that bound processes are those of either hierarchy, up to the root.
func TestGroupsThatBoundProcesses(t *testing.T) {
	self := filepath.Join(t.TempDir(), "cgroup")
	if err := os.WriteFile(self, []byte("8:pids:/a/b\n4:memory:/m\n0::/u\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"/r/pids/a/b", "/r/pids/a", "/r/pids", "/r/u", "/r"}
	if got := pidsGroups(self, "/r"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What a box takes of the room comes back once, however often it is closed.
func TestRoomOfABoxComesBack(t *testing.T) {
	s := open(t, nil)
	s.room = newRoom(100_000, "a bound", 1)
	b := begin(t, s, `sed -n "s|^Max processes *\([0-9]*\) .*|\1|p" /proc/self/limits`, func(p *Spec) { p.Procs = 99 })
	if s.room.taken != 99 {
		t.Errorf("%d taken", s.room.taken)
	}
	if out, _ := b.end(); out != "99\n" {
		t.Errorf("%q", out)
	}
	b.Close()
	b.Close()
	if s.room.taken != 0 {
		t.Errorf("%d taken", s.room.taken)
	}
}
