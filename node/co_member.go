package node

import (
	"slices"

	"skep/grid"
)

// coMember is the state kept about another node that shares registers with this one.
type coMember struct {
	peer           grid.NodeID
	ownerAnswered  grid.Time // this node as member: last answer to the peer as owner
	leaseVerified  grid.Time // this node as owner: sending time of the last keepalive that the peer agreed to
	lastAlive      grid.Time // last keepalive answer
	keepaliveSeq   uint64    // of the last keepalive; 0 = it is answered
	openKeepalives openKeepalives
	room           uint32               // the quota it has left for a job of this node: grid.Register.Room
	keepaliveSent  grid.Time            // sending time of the last keepalive
	listedJobs     []*job               // jobs listed one by one in the last keepalive
	pending        []*pendingSubmission // submissions that first probed it; may include done ones
	deposited      grid.Bytes           // size of the files stored for its jobs
	fetching       int                  // number of deposits for it being fetched
	evictable      []*job               // its jobs that are over and whose files take room, oldest end first
	shared         registerDigest       // as last counted
}

// registerDigest is the number of registers of this node that a peer has accepted, and the sum of their hashes.
type registerDigest struct {
	count uint32
	sum   uint64
}

func (s *registerDigest) add(j *job) {
	s.count++
	s.sum += registerHash(j.id, j.replica.reg.State().Epoch)
}

// coMembers holds the nodes that share registers with this one.
type coMembers struct {
	all []*coMember
	by  lookup[grid.NodeID, *coMember]
}

func (p *coMember) key() grid.NodeID { return p.peer }

// addPending adds a submission that waits for the peer's answer.
func (p *coMember) addPending(sub *pendingSubmission) {
	if len(p.pending) == cap(p.pending) {
		p.pending = slices.DeleteFunc(p.pending, func(sub *pendingSubmission) bool { return sub.done })
	}
	p.pending = append(p.pending, sub)
}

// clearPending drops the waiting submissions of all peers: none is left.
func (s *coMembers) clearPending() {
	for _, p := range s.all {
		p.pending = nil
	}
}

// coMember returns the state kept about a node; it creates it if there is none.
func (n *Node) coMember(id grid.NodeID) *coMember {
	if p := n.coMembers.by.get(id); p != nil {
		return p
	}
	p := &coMember{peer: id}
	n.coMembers.all = append(n.coMembers.all, p)
	n.coMembers.by.put(p)
	return p
}

// coMemberOrNone returns a copy of the state kept about a node, for reading; the zero state if there is none.
func (n *Node) coMemberOrNone(id grid.NodeID) coMember {
	if p := n.coMembers.by.get(id); p != nil {
		return *p
	}
	return coMember{peer: id}
}
