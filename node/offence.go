package node

import (
	"slices"

	"skep/grid"
)

// An answer is accepted only from the node that was asked, and only for that question. An answer that was certainly
// never asked for is an offence; a late or repeated answer of an honest node is ignored.

// countOffence counts an answer that this node did not ask for, and reports the sender to the driver.
func (n *Node) countOffence(from grid.NodeID, fx *grid.Effects) {
	n.stats.Stale++
	fx.Offences = append(fx.Offences, from)
}

// maxOpenKeepalives bounds the unanswered keepalives to one peer; older ones can no longer be answered. While members
// are chosen a peer is asked every half second.
const maxOpenKeepalives = 8

// openKeepalives is a ring of the newest unanswered keepalives to one peer.
type openKeepalives struct {
	open [maxOpenKeepalives]uint64
	next int
}

func (q *openKeepalives) add(seq uint64) {
	q.open[q.next] = seq
	q.next = (q.next + 1) % maxOpenKeepalives
}

// take reports whether the keepalive is open, and closes it: a second answer does not count.
func (q *openKeepalives) take(seq uint64) bool {
	at := slices.Index(q.open[:], seq)
	if at < 0 || seq == 0 {
		return false
	}
	q.open[at] = 0
	return true
}

// neverSent reports whether this node certainly never sent a peer the keepalive that it answers. A sequence number of
// an earlier boot may have been sent.
func (n *Node) neverSent(p *coMember, seq uint64) bool {
	current := n.cfg.Boot << 40 >> 40
	switch {
	case seq>>40 != current:
		return seq>>40 > current
	case p == nil || p.keepaliveSent == 0:
		return true
	}
	return seq&(1<<40-1) > n.keepalives
}

// isOutsider reports whether a node answers for a register of which it is not a member.
func (n *Node) isOutsider(j *job, from grid.NodeID) bool {
	return j != nil && j.replica != nil && j.replica.reg.Place(from) < 0
}
