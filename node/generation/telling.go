package generation

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"skep/grid"
)

// Bounds of how often a node tells its generation.
const (
	Interval = time.Second // between two rounds
	PerRound = 16          // peers that are told in a round; the others are told in later ones
)

// Telling is whom a node has told its generation. A peer is told when it connects, and when it is sent a message after
// a commit that it has not been told of; so a node that saves nothing, or sends nothing, tells nothing. Invariant: one
// entry for each connected peer that takes statements, sorted by node.
type Telling struct {
	peers []told
	round grid.Time // of the last round
	ever  bool      // there was one
}

type told struct {
	node  grid.NodeID
	saved uint64    // what it was told
	at    grid.Time // when
	owed  bool
}

func (t *Telling) find(n grid.NodeID) (int, bool) {
	return slices.BinarySearchFunc(t.peers, n, func(p told, n grid.NodeID) int { return bytes.Compare(p.node[:], n[:]) })
}

// Up adds a peer that takes statements. It is told at once: what it was sent to be connected may rest on a commit.
func (t *Telling) Up(n grid.NodeID) {
	if k, known := t.find(n); !known {
		t.peers = slices.Insert(t.peers, k, told{node: n, owed: true})
	}
}

// Down removes a peer.
func (t *Telling) Down(n grid.NodeID) {
	if k, known := t.find(n); known {
		t.peers = slices.Delete(t.peers, k, k+1)
	}
}

// Sent notes that a peer was sent a message when so much was saved, and reports whether it is to be told.
func (t *Telling) Sent(n grid.NodeID, saved uint64) bool {
	k, known := t.find(n)
	if !known {
		return false
	}
	p := &t.peers[k]
	p.owed = p.owed || p.saved < saved
	return p.owed
}

// Failed notes that a peer could not be told; it is told again.
func (t *Telling) Failed(n grid.NodeID) {
	if k, known := t.find(n); known {
		t.peers[k].saved, t.peers[k].owed = 0, true
	}
}

// Next is when the next round is due; grid.Never = nobody is to be told.
func (t *Telling) Next() grid.Time {
	switch {
	case !slices.ContainsFunc(t.peers, func(p told) bool { return p.owed }):
		return grid.Never
	case !t.ever:
		return 0
	}
	return t.round.Add(Interval)
}

// Round begins a round if one is due, and returns whom to tell that so much is saved: those told longest ago.
func (t *Telling) Round(now grid.Time, saved uint64) []grid.NodeID {
	if now < t.Next() {
		return nil
	}
	var owed []*told
	for k := range t.peers {
		if t.peers[k].owed {
			owed = append(owed, &t.peers[k])
		}
	}
	slices.SortStableFunc(owed, func(a, b *told) int { return cmp.Compare(a.at, b.at) })
	var nodes []grid.NodeID
	for _, p := range owed[:min(len(owed), PerRound)] {
		p.saved, p.at, p.owed = saved, now, false
		nodes = append(nodes, p.node)
	}
	t.round, t.ever = now, true
	return nodes
}
