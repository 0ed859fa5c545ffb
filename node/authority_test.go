package node

import (
	"testing"

	"skep/grid"
)

// Any member may announce a takeover: while the job's origin is connected, the origin is asked; otherwise the newest
// claimant.
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
}
