package replication

import (
	"slices"

	"skep/grid"
)

// coMember is the state kept about another node that shares registers with this one, or that might.
type coMember struct {
	peer           grid.NodeID
	ownerAnswered  grid.Time // this node as member: last answer to the peer as owner
	leaseVerified  grid.Time // this node as owner: sending time of the last keepalive that the peer agreed to
	lastAlive      grid.Time // last keepalive answer
	keepaliveSeq   uint64    // of the last keepalive; 0 = it is answered
	openKeepalives openKeepalives
	room           uint32     // the quota it has left for a job of this node: grid.RegisterMessage.Room
	keepaliveSent  grid.Time  // sending time of the last keepalive
	listed         []*Replica // registers listed one by one in the last keepalive
	shared         digest     // as last counted
	kept           bool       // by SendKeepalives: something else is stored for it
}

// Key returns the peer.
func (p *coMember) Key() grid.NodeID { return p.peer }

// member returns the state kept about a node; it creates it if there is none.
func (s *Replicas) member(id grid.NodeID) *coMember {
	if p := s.by.Get(id); p != nil {
		return p
	}
	p := &coMember{peer: id}
	s.members = append(s.members, p)
	s.by.Put(p)
	return p
}

// Note has a node known as one that shares registers with this one. Members get their keepalives in the order in which
// they became known.
func (s *Replicas) Note(id grid.NodeID) { s.member(id) }

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
func (s *Replicas) neverSent(p *coMember, seq uint64) bool {
	current := s.cfg.Boot << 40 >> 40
	switch {
	case seq>>40 != current:
		return seq>>40 > current
	case p == nil || p.keepaliveSent == 0:
		return true
	}
	return seq&(1<<40-1) > s.keepalives
}

// IsAlive reports whether a node has answered a keepalive within the last third of a lease.
func (s *Replicas) IsAlive(now grid.Time, id grid.NodeID) bool {
	p := s.by.Get(id)
	return p != nil && p.lastAlive > 0 && now < p.lastAlive.Add(s.cfg.Lease/3)
}

// Room is the remaining quota in a node's last keepalive answer: 0 = it keeps a job of any size, or has not said so.
func (s *Replicas) Room(id grid.NodeID) uint32 {
	if p := s.by.Get(id); p != nil {
		return p.room
	}
	return 0
}
