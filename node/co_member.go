package node

import (
	"slices"

	"skep/grid"
)

// coMember is what this node keeps of another with which it shares registers.
type coMember struct {
	peer           grid.NodeID
	ownerAnswered  grid.Time // as a member: when the other, as an owner, was last answered
	leaseVerified  grid.Time // as an owner: when the last watch was sent that the other agreed to
	lastAlive      grid.Time // when it last answered a watch
	keepaliveSeq   uint64    // of the last watch; 0 = it is answered
	openKeepalives openKeepalives
	room           uint32               // that it said to have for a job of this node: grid.Guard.Room
	keepaliveSent  grid.Time            // when it was sent
	listedJobs     []*job               // that it named one by one
	pending        []*pendingSubmission // that asked it first whether it lives; some are over
	deposited      grid.Bytes           // for the files of its jobs
	fetching       int                  // of them, inputs and tasks' files on their way here
	evictable      []*job               // of its jobs, those that are over and whose files take room, oldest end first
	shared         registerDigest       // as it was counted last
}

// registerDigest is how many registers of this node a peer has accepted, and the sum of their hashes.
type registerDigest struct {
	count uint32
	sum   uint64
}

func (s *registerDigest) add(j *job) {
	s.count++
	s.sum += registerHash(j.id, j.replica.reg.State().Epoch)
}

// coMembers are those with which this node shares registers.
type coMembers struct {
	all []*coMember
	by  lookup[grid.NodeID, *coMember]
}

func (p *coMember) key() grid.NodeID { return p.peer }

// addPending notes a submission that waits for an answer.
func (p *coMember) addPending(f *pendingSubmission) {
	if len(p.pending) == cap(p.pending) {
		p.pending = slices.DeleteFunc(p.pending, func(f *pendingSubmission) bool { return f.done })
	}
	p.pending = append(p.pending, f)
}

// clearPending forgets the submissions that waited: there are none.
func (s *coMembers) clearPending() {
	for _, p := range s.all {
		p.pending = nil
	}
}

// coMember returns what is kept of a node.
func (n *Node) coMember(id grid.NodeID) *coMember {
	if p := n.coMembers.by.get(id); p != nil {
		return p
	}
	p := &coMember{peer: id}
	n.coMembers.all = append(n.coMembers.all, p)
	n.coMembers.by.put(p)
	return p
}

// coMemberOrNone returns what is kept of a node, to be read: nothing, where that is nothing.
func (n *Node) coMemberOrNone(id grid.NodeID) coMember {
	if p := n.coMembers.by.get(id); p != nil {
		return *p
	}
	return coMember{peer: id}
}
