package replication

import (
	"slices"
	"time"

	"skep/grid"
)

// digest is the number of registers that one node owns and another has accepted, and the sum of their hashes.
type digest struct {
	count uint32
	sum   uint64
}

func (d *digest) add(r *Replica) {
	d.count++
	d.sum += Hash(r.id, r.State().Epoch)
}

// Hash returns the hash of a register in an epoch. Sums of hashes do not depend on the order.
func Hash(id grid.JobID, epoch uint32) uint64 {
	h := uint64(14695981039346656037) ^ uint64(epoch)
	for _, b := range id.Nonce {
		h = (h ^ uint64(b)) * 1099511628211
	}
	for _, b := range id.Origin {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h ^ h>>31
}

// ownedWith returns the digest of the registers that this node owns and the peer has accepted.
func (s *Replicas) ownedWith(peer grid.NodeID) (d digest) {
	for _, r := range s.With(peer) {
		if r.Leads() && r.HasAccepted(r.Place(peer)) {
			d.add(r)
		}
	}
	return d
}

// countShared updates the digests of all peers in one pass over the registers: each has few members, and there may be
// many peers.
func (s *Replicas) countShared() {
	for _, p := range s.members {
		p.shared = digest{}
	}
	for _, r := range s.open {
		if !r.Leads() {
			continue
		}
		for place, id := range r.seats.Places() {
			if !r.HasAccepted(place) {
				continue
			}
			if p := s.by.Get(id); p != nil {
				p.shared.add(r)
			}
		}
	}
}

// SendKeepalives sends a keepalive to each member of the registers that this node owns: their number and the sum of
// their hashes, so that the cost does not grow with the number of jobs. What is known of a member expires, but not of
// those in kept: something else is stored for them.
func (s *Replicas) SendKeepalives(now grid.Time, kept []grid.NodeID, fx *grid.Effects) {
	s.countShared()
	for _, id := range kept {
		if p := s.by.Get(id); p != nil {
			p.kept = true
		}
	}
	s.members = slices.DeleteFunc(s.members, func(p *coMember) bool {
		kept := p.kept
		p.kept = false
		if s.keepaliveOne(now, p, p.shared, fx) || kept || max(p.ownerAnswered, p.leaseVerified, p.lastAlive,
			p.keepaliveSent).Add(100*s.cfg.Lease) >= now {
			return false
		}
		s.by.Drop(p.peer) // after 100 leases an entry tells no more than none
		return true
	})
}

// keepaliveOne sends a keepalive to one member, if this node owns a register that it has accepted, and reports
// whether it did.
func (s *Replicas) keepaliveOne(now grid.Time, p *coMember, d digest, fx *grid.Effects) bool {
	switch {
	case d.count > 0:
		s.sendKeepalive(now, p, d, fx)
	case len(p.listed) > 0 && now >= p.keepaliveSent.Add(s.cfg.Lease): // too late for the answer to matter
		p.keepaliveSeq, p.listed = 0, nil
	}
	return d.count > 0
}

// sendKeepalive sends the digest of the registers that the member should hold; an empty one if the caller lists them.
func (s *Replicas) sendKeepalive(now grid.Time, p *coMember, d digest, fx *grid.Effects) *grid.Message {
	s.keepalives++
	clear(p.listed)
	p.keepaliveSeq, p.keepaliveSent, p.listed = s.cfg.Boot<<40|s.keepalives, now, p.listed[:0]
	p.openKeepalives.add(p.keepaliveSeq)
	m := fx.Send(p.peer, grid.KindKeepalive)
	m.Register.Seq, m.Register.Count, m.Register.Sum = p.keepaliveSeq, d.count, d.sum
	return m
}

// Probe sends a keepalive to a node that may become a member, unless one that is younger than retry is open.
func (s *Replicas) Probe(now grid.Time, id grid.NodeID, retry time.Duration, fx *grid.Effects) {
	if p := s.member(id); p.keepaliveSeq == 0 || now >= p.keepaliveSent.Add(retry) {
		s.sendKeepalive(now, p, s.ownedWith(id), fx)
	}
}

// KeepaliveReceived answers an owner's keepalive; room is the remaining quota. The owner counts as alive if its digest
// matches what this node holds.
func (s *Replicas) KeepaliveReceived(now grid.Time, from grid.NodeID, m *grid.Message, room uint32, fx *grid.Effects) {
	a := fx.Send(from, grid.KindKeepaliveAck)
	a.Register.Seq, a.Register.Answer, a.Register.Room = m.Register.Seq, grid.RegisterDiffers, room
	if len(m.Attempts) > 0 {
		s.keepaliveListed(now, from, m, a)
		return
	}
	var d digest
	for _, r := range s.With(from) {
		if r.Follows(from) && r.mayPromise() {
			d.add(r)
		}
	}
	if d.count == m.Register.Count && d.sum == m.Register.Sum {
		a.Register.Answer = grid.RegisterOK
		s.answeredOwner(now, from)
	}
}

// keepaliveListed answers an owner that lists its registers one by one: the answer lists those that this node does
// not hold so.
func (s *Replicas) keepaliveListed(now grid.Time, from grid.NodeID, m, a *grid.Message) {
	a.Register.Answer = grid.RegisterOK
	held := make(map[grid.JobID]*Replica, len(m.Attempts))
	for _, r := range s.With(from) {
		if r.Follows(from) && r.mayPromise() {
			held[r.id], r.unlisted = r, !m.Register.More
		}
	}
	for _, x := range m.Attempts {
		r := held[x.Task.Job]
		if r != nil {
			r.unlisted = false
		}
		if r == nil || r.state.Epoch != x.Epoch {
			a.Attempts = append(a.Attempts, x)
		}
	}
	s.answeredOwner(now, from)
}
