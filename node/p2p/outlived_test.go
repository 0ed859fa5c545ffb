package p2p

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	ds "github.com/ipfs/go-datastore"

	"skep/grid"
	"skep/node/p2p/clock"
	"skep/node/p2p/generations"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/store"
)

// toldStarts returns how many starts another node has told, as a member has it on disk.
func (m *member) toldStarts(n grid.NodeID) (boot uint64) {
	m.t.Helper()
	b, err := m.store.Datastore().Get(m.t.Context(), ds.NewKey("/generation/"+n.String()))
	if err == nil {
		boot = binary.BigEndian.Uint64(b[8:])
	}
	return boot
}

// A node that was cut off while a copy of its folder ran, and for which that copy then stopped, goes on after its next
// start too, though peers keep what the copy told; and they keep what it tells from then on.
func TestNodeThatOutlivedACopyRestarts(t *testing.T) {
	t.Parallel()
	a, b := openPair(t)
	rig.Await(t, "b saves a", func() bool { return slices.Contains(b.reach.Recent(8), a.self) })
	b.close()
	dir := copyFolder(t, b.cfg.DataDir)
	s, err := store.Open(dir) // the copy is of a folder whose node had started
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.NextBoot(b.self); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var hours atomic.Int64
	first := openMember(t, b.cfg.DataDir, func(c *Config) {
		c.age = func() grid.Time { return clock.Now().Add(time.Duration(hours.Load()) * time.Hour) }
	}, a.token())
	waitUp(t, a, first)
	a.close()
	hours.Store(10)

	stopped := make(chan error, 1)
	second := openMember(t, dir, func(c *Config) { c.Fatal = func(err error) { stopped <- err } })
	if first.self != second.self || second.boot != first.boot+1 {
		t.Fatalf("starts %d and %d: want one identity, and the copy to have started once more", first.boot, second.boot)
	}
	c := openMember(t, filepath.Join(t.TempDir(), "c"), nil, second.token()) // it knows no address of first
	rig.Await(t, "c keeps what the copy told", func() bool { return c.toldStarts(b.self) == second.boot })

	rig.Dial(t, first.transport.Host(), c.Addrs())
	select {
	case err := <-stopped:
		if !errors.Is(err, ErrCopied) {
			t.Fatalf("the copy stops: %v", err)
		}
	case <-time.After(rig.Timeout):
		t.Fatal("the copy goes on")
	}
	second.close()
	rig.Await(t, "the node is up", func() bool { return first.transport.Up(c.self) && c.transport.Up(first.self) })
	rig.Await(t, "it has on disk that the copy stopped", func() bool {
		o, err := generations.LoadOutlived(t.Context(), first.store.Datastore())
		return err == nil && o.Boot() == second.boot
	})
	first.close()

	again := openMember(t, b.cfg.DataDir, nil, c.token()) // its Fatal fails the test
	waitUp(t, c, again)
	if again.boot != second.boot+1 {
		t.Errorf("start %d of the node, want %d: above what peers keep", again.boot, second.boot+1)
	}
	rig.Await(t, "c keeps what the node tells", func() bool { return c.toldStarts(b.self) == again.boot })
}
