package transport

import (
	"crypto/ed25519"
	"testing"

	"skep/grid"
	"skep/internal/hostile"
	"skep/node/p2p/internal/rig"
)

// Strangers that hold all inbound connections of a node neither keep a familiar member out nor push it out.
func TestStrangersDoNotCrowdOutFamiliarNodes(t *testing.T) {
	a := openNode(t, nil)
	a.peers.conns.seats.Max = 4
	for range 4 {
		rig.Attacker(t, a.token())
	}
	rig.Await(t, "all places are taken", func() bool { return a.peers.conns.seats.Taken() == 4 })
	_, key, _ := ed25519.GenerateKey(nil)
	id := grid.NodeID(key[32:])
	a.known.setFamiliar(id)
	b := openNode(t, func(c *Config) { c.Key, c.Self = key, id })
	b.connect(a)
	for range 8 {
		m, err := hostile.Join(t.Context(), hostile.Options{Token: a.token()})
		if err != nil {
			continue
		}
		defer m.Close()
		rig.Await(t, "a stranger beyond the bound is let go", func() bool {
			return !m.Connected(a.self) || a.peers.conns.seats.Taken() <= 4
		})
	}
	if !a.Up(b.self) || a.peers.conns.seats.Taken() > 4 {
		t.Errorf("%d connections, the known member up: %v", a.peers.conns.seats.Taken(), a.Up(b.self))
	}
	if n := a.dropped()["crowded"]; n == 0 {
		t.Error("nobody was refused")
	}
}
