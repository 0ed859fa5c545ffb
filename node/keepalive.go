package node

import (
	"slices"

	"skep/grid"
)

// sendKeepalives sends a keepalive to each member of the registers that this node owns: their number and the sum of
// their hashes, so that the cost does not grow with the number of jobs. Idle entries expire.
func (n *Node) sendKeepalives(now grid.Time, fx *grid.Effects) {
	n.countShared()
	n.coMembers.all = slices.DeleteFunc(n.coMembers.all, func(p *coMember) bool {
		if n.keepaliveOne(now, p, p.shared, fx) || p.deposited > 0 || p.fetching > 0 || max(p.ownerAnswered, p.leaseVerified, p.lastAlive, p.keepaliveSent).Add(100*n.cfg.Lease) >= now {
			return false
		}
		n.coMembers.by.drop(p.peer) // after 100 leases an entry tells no more than none
		return true
	})
}

// keepaliveOne sends a keepalive to one member, if this node owns a register that it has accepted, and reports
// whether it did.
func (n *Node) keepaliveOne(now grid.Time, p *coMember, s registerDigest, fx *grid.Effects) bool {
	switch {
	case s.count > 0:
		n.sendKeepalive(now, p, s, fx)
	case len(p.listedJobs) > 0 && now >= p.keepaliveSent.Add(n.cfg.Lease): // too late for the answer to matter
		p.keepaliveSeq, p.listedJobs = 0, nil
	}
	return s.count > 0
}

// resendWrites repeats unanswered writes and the keepalive to a member that has reconnected: a majority may depend on
// it.
func (n *Node) resendWrites(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	for _, j := range n.jobsWith(id) {
		if place := j.replica.reg.Place(id); j.replica.reg.IsOwner() && j.replica.writeSent[place] != 0 {
			n.writeAgain(now, j, place, fx)
		}
	}
	if p := n.coMembers.by.get(id); p != nil {
		n.keepaliveOne(now, p, n.ownedWith(id), fx)
	}
}

// sendKeepalive sends the digest of the registers that the member should hold; an empty one if the caller lists them.
func (n *Node) sendKeepalive(now grid.Time, p *coMember, s registerDigest, fx *grid.Effects) *grid.Message {
	n.keepalives++
	clear(p.listedJobs)
	p.keepaliveSeq, p.keepaliveSent, p.listedJobs = n.cfg.Boot<<40|n.keepalives, now, p.listedJobs[:0]
	p.openKeepalives.add(p.keepaliveSeq)
	m := fx.Send(p.peer, grid.KindKeepalive)
	m.Register.Seq, m.Register.Count, m.Register.Sum = p.keepaliveSeq, s.count, s.sum
	return m
}

// ownedWith returns the digest of the registers that this node owns and the peer has accepted.
func (n *Node) ownedWith(peer grid.NodeID) (s registerDigest) {
	for _, j := range n.jobsWith(peer) {
		if r := j.replica.reg; j.isOwner() && r.HasAccepted(r.Place(peer)) {
			s.add(j)
		}
	}
	return s
}

// countShared updates the digests of all peers in one pass over the registers: each has few members, and there may be
// many peers.
func (n *Node) countShared() {
	for _, p := range n.coMembers.all {
		p.shared = registerDigest{}
	}
	for _, j := range n.replicas {
		r := j.replica.reg
		if !j.isOwner() {
			continue
		}
		for place, id := range r.Members() {
			if !r.HasAccepted(place) {
				continue
			}
			if p := n.coMembers.by.get(id); p != nil {
				p.shared.add(j)
			}
		}
	}
}

// registerHash returns the hash of a register in an epoch. Sums of hashes do not depend on the order.
func registerHash(id grid.JobID, epoch uint32) uint64 {
	h := uint64(14695981039346656037) ^ uint64(epoch)
	for _, b := range id.Nonce {
		h = (h ^ uint64(b)) * 1099511628211
	}
	for _, b := range id.Origin {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h ^ h>>31
}

// follows reports whether this node is a member that has accepted that owner's epoch and promised no higher one.
func (j *job) follows(owner grid.NodeID) bool {
	s := j.replica.reg.State()
	return !s.Done && s.Owner == owner && s.Promised == s.Epoch && j.replica.owner == owner
}

// keepaliveReceived answers an owner's keepalive. The owner counts as alive if its digest matches.
func (n *Node) keepaliveReceived(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	if len(m.Attempts) > 0 {
		n.keepaliveListed(now, from, m, fx)
		return
	}
	var s registerDigest
	for _, j := range n.jobsWith(from) {
		if j.follows(from) {
			s.add(j)
		}
	}
	a := fx.Send(from, grid.KindKeepaliveAck)
	a.Register.Seq, a.Register.Answer, a.Register.Room = m.Register.Seq, grid.RegisterDiffers, n.quotaLeft(from)
	if s.count == m.Register.Count && s.sum == m.Register.Sum {
		a.Register.Answer = grid.RegisterOK
		n.coMember(from).ownerAnswered = now
	}
}

// keepaliveListed answers an owner that lists its registers one by one: the answer lists those that this node does
// not hold so.
func (n *Node) keepaliveListed(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	a := fx.Send(from, grid.KindKeepaliveAck)
	a.Register.Seq, a.Register.Answer, a.Register.Room = m.Register.Seq, grid.RegisterOK, n.quotaLeft(from)
	listed := make(map[grid.JobID]bool, len(m.Attempts))
	for _, x := range m.Attempts {
		id := x.Task.Job
		listed[id] = true
		j := n.job(id)
		if j == nil || j.replica == nil || !j.follows(from) || j.replica.reg.State().Epoch != x.Epoch {
			a.Attempts = append(a.Attempts, x)
		}
	}
	n.coMember(from).ownerAnswered = now
	for _, j := range n.jobsWith(from) {
		if j.follows(from) {
			j.replica.unlisted = !m.Register.More && !listed[j.id]
		}
	}
}

// keepaliveAnswered takes a member's answer to a keepalive.
func (n *Node) keepaliveAnswered(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	p := n.coMembers.by.get(from)
	if p == nil || !p.openKeepalives.take(m.Register.Seq) {
		if n.neverSent(p, m.Register.Seq) {
			n.countOffence(from, fx)
		}
		return
	}
	p.room = m.Register.Room
	n.candidateAnswered(now, p, fx) // a late answer, too, proves it alive
	if m.Register.Seq != p.keepaliveSeq {
		return
	}
	p.keepaliveSeq = 0
	if m.Register.Answer == grid.RegisterDiffers {
		n.listRegisters(now, p, fx)
		return
	}
	if len(p.listedJobs) == 0 {
		p.leaseVerified = max(p.leaseVerified, p.keepaliveSent)
	}
	for _, j := range p.listedJobs {
		place := j.replica.reg.Place(from)
		if !slices.ContainsFunc(m.Attempts, func(x grid.AttemptID) bool { return x.Task.Job == j.id }) {
			j.replica.acked[place] = max(j.replica.acked[place], p.keepaliveSent)
		} else if j.replica.writeSent[place] == 0 && j.replica.reg.IsOwner() {
			j.replica.reg.ResetProgress(place)
			n.markDirty(j)
		}
	}
	clear(p.listedJobs)
	p.listedJobs = p.listedJobs[:0]
	n.resumeJobs(now)
}

// listRegisters lists, one by one, the registers that the member should hold.
func (n *Node) listRegisters(now grid.Time, p *coMember, fx *grid.Effects) {
	m := n.sendKeepalive(now, p, registerDigest{}, fx)
	for _, j := range n.jobsWith(p.peer) {
		r := j.replica.reg
		if !j.isOwner() || !r.HasAccepted(r.Place(p.peer)) {
			continue
		}
		if m.Register.More = len(m.Attempts) == grid.MaxBeats; m.Register.More {
			return
		}
		m.Attempts = append(m.Attempts, grid.AttemptID{Task: grid.TaskID{Job: j.id}, Attempt: grid.Attempt{Epoch: r.State().Epoch}})
		p.listedJobs = append(p.listedJobs, j)
	}
}
