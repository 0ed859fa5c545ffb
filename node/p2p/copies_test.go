package p2p

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"skep/grid"
	"skep/node/p2p/clock"
	"skep/node/p2p/instance"
	"skep/node/p2p/internal/rig"
)

// copyFolder copies the data folder of a node that is stopped.
func copyFolder(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"identity", "secret"} {
		if err := os.Chmod(filepath.Join(to, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// heardOf returns how often the member's node heard that a peer is up, and that it is down.
func (m *member) heardOf(n grid.NodeID) (up, down int) {
	m.fake.mu.Lock()
	defer m.fake.mu.Unlock()
	for i := range m.fake.seen {
		switch ev := &m.fake.seen[i]; {
		case ev.Kind == grid.EvPeerUp && ev.Peer == n:
			up++
		case ev.Kind == grid.EvPeerDown && ev.Peer == n:
			down++
		}
	}
	return up, down
}

// A node whose data folder was copied goes on; the one that is started with the copy does not start, and says why.
// Peers hear nothing of it but that there were two.
func TestCopyOfADataFolderDoesNotStart(t *testing.T) {
	t.Parallel()
	a, b := openPair(t)
	rig.Await(t, "b saves a", func() bool { return slices.Contains(b.reach.Recent(8), a.self) })
	b.close()
	dir := copyFolder(t, b.cfg.DataDir)
	again := openMember(t, b.cfg.DataDir, nil)
	waitUp(t, a, again)
	up, down := a.heardOf(b.self)

	_, err := tryOpenMember(t, dir, nil)
	if err == nil {
		t.Fatal("a node with the copied folder runs")
	}
	for _, want := range []string{b.self.Short(), dir, "another node runs with it", "127.0.0.1", "--new-identity"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q: want %q in it", err, want)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q: want one line", err)
	}
	rig.Await(t, "the node that goes on knows of the copy", func() bool { _, ok := again.Copies()[b.self]; return ok })
	if c, ok := again.Copies()[b.self]; !ok || c.Witness != a.self || c.Process.Number != uint32(os.Getpid()) ||
		c.Process.Host == "" {
		t.Errorf("the node that goes on knows of %+v, %v: want the copy", c, ok)
	}
	if c, ok := a.Copies()[b.self]; !ok || c.Witness != a.self || c.Process != (instance.Process{}) {
		t.Errorf("the peer knows of %+v, %v: want that there were two, and not where they run", c, ok)
	}
	if u, d := a.heardOf(b.self); u != up || d != down {
		t.Errorf("the peer heard %d and %d times more that the node is up, or down: want never", u-up, d-down)
	}
	if !a.transport.Up(b.self) || !again.transport.Up(a.self) {
		t.Error("the two are not connected any more")
	}
}

// Two that start while nobody can tell them apart find out from the first peer that both meet: the one that began later
// stops, and says nothing to others that would be taken for a word of the one that goes on.
func TestLaterOfTwoCopiesStops(t *testing.T) {
	t.Parallel()
	a, b := openPair(t)
	addr := a.listenAddr()
	rig.Await(t, "b saves a", func() bool { return slices.Contains(b.reach.Recent(8), a.self) })
	b.close()
	a.close()
	dir := copyFolder(t, b.cfg.DataDir)
	var stopped [2]atomic.Pointer[string]
	open := func(i int, dir string) *member {
		return openMember(t, dir, func(c *Config) {
			c.Fatal = func(err error) {
				text := err.Error()
				if stopped[i].Swap(&text) != nil {
					t.Errorf("copy %d is stopped twice", i)
				}
			}
		})
	}
	first := open(0, b.cfg.DataDir)
	second := open(1, dir)
	if first.self != second.self || first.instance == second.instance {
		t.Fatal("want one identity and two instances")
	}
	again := reopenAt(t, a.cfg.DataDir, addr)
	rig.Await(t, "one of the copies stops", func() bool { return stopped[0].Load() != nil || stopped[1].Load() != nil })
	kept, gone := first, second
	if stopped[0].Load() != nil {
		kept, gone = second, first
	}
	gone.close()
	rig.Await(t, "the other one is up", func() bool {
		return kept.transport.Up(again.self) && again.transport.Up(kept.self)
	})
	if stopped[0].Load() != nil && stopped[1].Load() != nil {
		t.Error("both stop")
	}
	select {
	case <-gone.inbox.Closed():
	case <-time.After(rig.Timeout):
		t.Error("the one that stops steps on")
	}
	if up, down := again.heardOf(kept.self); up != down+1 {
		t.Errorf("the peer heard %d times that the node is up and %d times that it is down", up, down)
	}
	again.fake.mu.Lock()
	defer again.fake.mu.Unlock()
	for i := range again.fake.seen {
		if ev := &again.fake.seen[i]; ev.Kind == grid.EvMessage && ev.Msg.Kind == grid.KindBye {
			t.Error("the copy announced that the node leaves")
		}
	}
	if _, ok := kept.Copies()[kept.self]; !ok {
		t.Error("the one that goes on does not know of the copy")
	}
}

// A copy that ran before the node was started again, where it reached nobody, stops when it meets a peer of the node:
// that one has been with others.
func TestCopyThatWasAloneStops(t *testing.T) {
	t.Parallel()
	a, b := openPair(t)
	rig.Await(t, "b saves a", func() bool { return slices.Contains(b.reach.Recent(8), a.self) })
	b.close()
	a.close()
	stopped := make(chan error, 1)
	var hours atomic.Int64
	elsewhere := []string{"/ip4/127.0.0.2/tcp/0"} // the copy and a do not know each other's addresses
	alone := openMember(t, copyFolder(t, b.cfg.DataDir), func(c *Config) {
		c.Listen = elsewhere
		c.Fatal = func(err error) { stopped <- err }
		c.age = func() grid.Time { return clock.Now().Add(time.Duration(hours.Load()) * time.Hour) }
	})
	hours.Store(10)
	a = openMember(t, a.cfg.DataDir, func(c *Config) { c.Listen = elsewhere })
	again := openMember(t, b.cfg.DataDir, nil, a.token()) // its Fatal fails the test
	waitUp(t, a, again)
	rig.Dial(t, alone.transport.Host(), a.Addrs())
	select {
	case err := <-stopped:
		if !strings.Contains(err.Error(), ErrCopied.Error()) {
			t.Errorf("it stops: %v", err)
		}
	case <-time.After(rig.Timeout):
		t.Fatal("the copy goes on")
	}
	alone.close()
	rig.Await(t, "the node is up", func() bool { return again.transport.Up(a.self) && a.transport.Up(again.self) })
}
