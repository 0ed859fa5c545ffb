package peers

import (
	"slices"
	"testing"

	"skep/grid"
)

// The nodes with room and those where work waits are those whose newest ads say so and that understand a pull, ordered
// by identity, and are as many as Loads says.
func TestLoadsFollowAds(t *testing.T) {
	p := Peers{cfg: Config{Scratch: new(Scratch)}}
	idle := &grid.Ad{Free: grid.Resources{CPU: grid.CPU}}
	busy := &grid.Ad{Free: grid.Resources{CPU: grid.CPU}, Backlog: 1}
	draining := &grid.Ad{Free: grid.Resources{CPU: grid.CPU}, Draining: true}
	waiting := &grid.Ad{AdWork: grid.AdWork{Waiting: true}}
	for _, c := range []struct {
		node           byte
		can            ability
		ad             *grid.Ad
		waiting, roomy []byte
	}{
		{3, pulls | takesWork, idle, nil, []byte{3}},
		{1, pulls | takesWork, idle, nil, []byte{1, 3}},
		{2, pulls, idle, nil, []byte{1, 3}},
		{2, pulls, waiting, []byte{2}, []byte{1, 3}},
		{4, takesWork, waiting, []byte{2}, []byte{1, 3}},
		{1, pulls | takesWork, waiting, []byte{1, 2}, []byte{3}},
		{1, pulls | takesWork, waiting, []byte{1, 2}, []byte{3}},
		{1, pulls | takesWork, idle, []byte{2}, []byte{1, 3}},
		{3, pulls | takesWork, busy, []byte{2}, []byte{1}},
		{1, pulls | takesWork, draining, []byte{2}, nil},
		{2, pulls, nil, nil, nil},
	} {
		q := p.open(grid.NodeID{c.node})
		q.up, q.can = true, c.can
		p.noteLoad(q, c.ad)
		where, room := firstBytes(p.WhereWorkWaits()), firstBytes(p.WithRoom())
		if !slices.Equal(where, c.waiting) || !slices.Equal(room, c.roomy) {
			t.Errorf("node %d with %+v: work waits at %v, room at %v, want %v, %v", c.node, c.ad, where, room, c.waiting,
				c.roomy)
		}
		if w, r := p.Loads(); w != len(c.waiting) || r != len(c.roomy) {
			t.Errorf("node %d: Loads %d, %d", c.node, w, r)
		}
	}
}

func firstBytes(ids []grid.NodeID) (first []byte) {
	for _, id := range ids {
		first = append(first, id[0])
	}
	return first
}
