package p2p

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"skep/grid"
	"skep/node/p2p/hostile"
)

// Strangers that hold all inbound connections of a node neither keep a familiar member out nor push it out.
func TestStrangersDoNotCrowdOutFamiliarNodes(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	a.peers.conns.seats.Max = 4
	for range 4 {
		attacker(t, a)
	}
	await(t, "all places are taken", func() bool { return a.peers.conns.seats.Taken() == 4 })
	dir := filepath.Join(t.TempDir(), "b")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	key, err := loadKey(dir, grid.NodeID{})
	if err != nil {
		t.Fatal(err)
	}
	id := grid.NodeID(key[32:])
	a.dialer.learn(id, []string{"/ip4/127.0.0.1/tcp/1"}, id)
	a.dialer.mu.Lock()
	a.dialer.contacts[id].firstUp = time.Now().Add(-2 * familiarAfter)
	a.dialer.mu.Unlock()
	b := openMember(t, dir, nil, a.token())
	waitUp(t, a, b)
	for range 8 {
		m, err := hostile.Join(t.Context(), hostile.Options{Token: a.token()})
		if err != nil {
			continue
		}
		defer m.Close()
		await(t, "a stranger beyond the bound is let go", func() bool { return !m.Connected(a.self) || a.peers.conns.seats.Taken() <= 4 })
	}
	if !a.fake.isUp(b.self) || a.peers.conns.seats.Taken() > 4 {
		t.Errorf("%d connections, the known member up: %v", a.peers.conns.seats.Taken(), a.fake.isUp(b.self))
	}
	if n := a.Dropped()["crowded"]; n == 0 {
		t.Error("nobody was refused")
	}
}

// Strangers that come and go do not replace saved familiar members: a node finds its network by these after a
// restart.
func TestStrangersDoNotReplaceSavedFamiliarNodes(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	old, addr := time.Now().Add(-2*familiarAfter), []string{"/ip4/192.0.2.1/tcp/1"}
	a.dialer.mu.Lock()
	for i := range maxSaved {
		a.dialer.contacts[grid.NodeID{1, byte(i), byte(i >> 8)}] = &contact{addrs: addr, lastSeen: old, firstUp: old, saved: true, next: time.Now().Add(time.Hour)}
	}
	a.dialer.mu.Unlock()
	for i := range byte(10) {
		n := grid.NodeID{2, i}
		a.dialer.learn(n, addr, n)
		a.dialer.up(n)
	}
	await(t, "strangers are up", func() bool {
		a.dialer.mu.Lock()
		defer a.dialer.mu.Unlock()
		return a.dialer.connected == 10
	})
	a.dialer.save(grid.NodeID{2})
	a.dialer.mu.Lock()
	defer a.dialer.mu.Unlock()
	for n, c := range a.dialer.contacts {
		if n[0] == 1 && !c.saved {
			t.Fatal("a node that is known for long is forgotten for a stranger")
		}
	}
}
