package node

import (
	"slices"

	"skep/grid"
)

// An answer counts only from whom it was asked, and for that question. One that was never asked for is an offence where that is certain: what
// an honest node says may be late or repeated, and then counts for nothing.

// countOffence counts an answer that nobody asked for.
func (n *Node) countOffence(from grid.NodeID, fx *grid.Effects) {
	n.stats.Stale++
	fx.Offences = append(fx.Offences, from)
}

// maxOpenKeepalives is how many of the newest questions to a peer may still be answered. While members are chosen one is asked every half
// second.
const maxOpenKeepalives = 8

// openKeepalives are the newest watches that were sent to a peer and are not answered.
type openKeepalives struct {
	open [maxOpenKeepalives]uint64
	next int
}

// add notes a question.
func (q *openKeepalives) add(seq uint64) {
	q.open[q.next] = seq
	q.next = (q.next + 1) % maxOpenKeepalives
}

// take reports whether a question was asked and is answered for the first time.
func (q *openKeepalives) take(seq uint64) bool {
	at := slices.Index(q.open[:], seq)
	if at < 0 || seq == 0 {
		return false
	}
	q.open[at] = 0
	return true
}

// neverSent reports whether it is certain that this node never sent a peer the watch that it answers. One of an earlier boot may have been.
func (n *Node) neverSent(p *coMember, seq uint64) bool {
	boot := n.cfg.Boot << 40 >> 40
	switch {
	case seq>>40 != boot:
		return seq>>40 > boot
	case p == nil || p.keepaliveSent == 0:
		return true
	}
	return seq&(1<<40-1) > n.keepalives
}

// isOutsider reports whether a node answers for a register that it is no member of.
func (n *Node) isOutsider(j *job, from grid.NodeID) bool {
	return j != nil && j.replica != nil && j.replica.reg.Place(from) < 0
}
