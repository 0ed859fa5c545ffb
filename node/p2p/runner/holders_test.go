package runner

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
	"skep/node/p2p/throughput"
)

// several are peers that are all connected.
type several struct {
	fakePeers
	nodes []grid.NodeID
}

func (s several) Connected() []grid.NodeID       { return s.nodes }
func (s several) IsConnected(n grid.NodeID) bool { return slices.Contains(s.nodes, n) }

// A blob is asked for where it should be, first where it comes soonest; those that may not have it come before one that
// takes seconds longer, and not before one that is hardly slower, or for a small blob.
func TestHoldersByBandwidth(t *testing.T) {
	r, _ := openRunner(t)
	owner, member, other := grid.NodeID{1}, grid.NodeID{2}, grid.NodeID{3}
	r.cfg.Peers = several{fakePeers{}, []grid.NodeID{owner, member, other}}
	expect := func(what string, size grid.Bytes, want ...grid.NodeID) {
		t.Helper()
		if got := r.fetcher.holders(size, owner, []grid.NodeID{member}); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	note := func(id grid.NodeID, rate grid.Bytes) {
		r.cfg.meter.Received.Note(id, grid.Transfer{Bytes: rate, Took: time.Second}, time.Now())
	}
	expect("nothing is known", 100e6, owner, member, other)
	note(owner, 1e6)
	expect("the owner is slow", 100e6, member, other, owner)
	expect("the owner is slow and the blob small", 1e5, owner, member, other)
	note(member, 1e6)
	expect("all that should have it are slow", 100e6, other, owner, member)
	note(other, 0.9e6)
	expect("all are slow", 10e6, owner, member, other)
	*r.cfg.meter = throughput.Meter{}
	note(owner, 1)
	expect("next to nothing comes from the owner", 10e9, member, other, owner)
}
