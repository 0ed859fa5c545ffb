package node

import (
	"slices"
	"testing"

	"skep/grid"
)

// Any member may announce a takeover: while the job's origin is connected, the origin is asked; otherwise the
// claimants, each once, newest epoch first, and a bounded number.
func TestClaimantsAreAskedAfterTheOrigin(t *testing.T) {
	r := newRig(t, nil)
	job := grid.JobID{Origin: fastID, Nonce: [10]byte{1}}
	r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: 1e6, Kinds: grid.AllKinds})
	r.announceTakeover(slowID, job, 1<<30)
	if who, _, known := r.n.Authority(job); !known || who != fastID {
		t.Errorf("origin connected: %v, %t: want the origin", who, known)
	}
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
	if who, _, known := r.n.Authority(job); !known || who != slowID {
		t.Errorf("origin not connected: %v, %t: want who said so", who, known)
	}
	var h cachedOwner
	for i := range byte(10) {
		h.add(claimant{grid.NodeID{i}, uint32(i), 0})
		h.add(claimant{grid.NodeID{i}, uint32(i), 1}) // repeated
		h.add(claimant{grid.NodeID{9}, 0, 1})         // an older epoch of it
	}
	h.add(claimant{grid.NodeID{7}, 20, 0})
	var got []grid.NodeID
	for _, x := range h.claimants {
		got = append(got, x.node)
	}
	if want := []grid.NodeID{{7}, {9}, {8}, {6}}; !slices.Equal(got, want) {
		t.Errorf("%v: want %v", got, want)
	}
}
