//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
		first, err1 := r.take(4096)
		second, err2 := r.take(4096)
		if err1 != nil || err2 != nil || first != c.first || second != c.second || r.enough() != c.enough {
			t.Errorf("%+v: %d, %d, enough %v, %v, %v", c, first, second, r.enough(), err1, err2)
		}
	}
	r, sum, all := newRoom(1512, "a bound of 1512", 2), int64(0), []int64{}
	for {
		n, err := r.take(4096)
		if err != nil {
			if !strings.Contains(err.Error(), "a bound of 1512") {
				t.Error(err)
			}
			break
		}
		sum, all = sum+n, append(all, n)
	}
	if sum > 1000 || len(all) < 5 || slices.Min(all) < leastProcs {
		t.Errorf("tasks have %d together: %v", sum, all)
	}
	for _, n := range all {
		r.give(n)
	}
	if n, err := r.take(4096); n != 250 || err != nil {
		t.Errorf("when all have ended: %d, %v", n, err)
	}
	if n, err := (*room)(nil).take(7); n != 7 || err != nil {
		t.Errorf("no room: %d, %v", n, err)
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
