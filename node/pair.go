package node

import (
	"slices"

	"skep/grid"
)

// pair is what this node keeps of another with which it shares registers.
type pair struct {
	peer     grid.NodeID
	heard    grid.Time // as a member: when the other, as an owner, was last answered
	verified grid.Time // as an owner: when the last watch was sent that the other agreed to
	alive    grid.Time // when it last answered a watch
	seq      uint64    // of the last watch; 0 = it is answered
	asked    questions
	room     uint32     // that it said to have for a job of this node: grid.Guard.Room
	sent     grid.Time  // when it was sent
	listed   []*job     // that it named one by one
	awaits   []*forming // that asked it first whether it lives; some are over
	lent     grid.Bytes // for the files of its jobs
	coming   int        // of them, inputs and tasks' files on their way here
	spare    []*job     // of its jobs, those that are over and whose files take room, oldest end first
	shares   sharing    // as it was counted last
}

// sharing is how many registers of this node a peer has accepted, and the sum of their hashes.
type sharing struct {
	count uint32
	sum   uint64
}

func (s *sharing) add(j *job) {
	s.count++
	s.sum += hash(j.id, j.guard.reg.State().Epoch)
}

// pairs are those with which this node shares registers.
type pairs struct {
	all []*pair
	by  lookup[grid.NodeID, *pair]
}

func (p *pair) key() grid.NodeID { return p.peer }

// await notes a submission that waits for an answer.
func (p *pair) await(f *forming) {
	if len(p.awaits) == cap(p.awaits) {
		p.awaits = slices.DeleteFunc(p.awaits, func(f *forming) bool { return f.over })
	}
	p.awaits = append(p.awaits, f)
}

// expectNone forgets the submissions that waited: there are none.
func (s *pairs) expectNone() {
	for _, p := range s.all {
		p.awaits = nil
	}
}

// pair returns what is kept of a node.
func (n *Node) pair(id grid.NodeID) *pair {
	if p := n.pairs.by.get(id); p != nil {
		return p
	}
	p := &pair{peer: id}
	n.pairs.all = append(n.pairs.all, p)
	n.pairs.by.put(p)
	return p
}

// paired returns what is kept of a node, to be read: nothing, where that is nothing.
func (n *Node) paired(id grid.NodeID) pair {
	if p := n.pairs.by.get(id); p != nil {
		return *p
	}
	return pair{peer: id}
}
