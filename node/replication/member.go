package replication

import (
	"time"

	"skep/grid"
)

// The role of a member that is not the owner.

// Write applies a write of an epoch's owner. The answer, by Answer, leaves once it is on disk.
func (s *Replicas) Write(now grid.Time, from grid.NodeID, r *Replica, g *grid.RegisterMessage, fx *grid.Effects) grid.RegisterAnswer {
	ConvertTimes(s.wall.At(now).UnixNano(), g.Entries)
	before, wasOwner := r.state, r.IsOwner()
	answer, written := r.Register.Write(from, g, s.written[:0])
	s.written = written
	if r.state != before {
		s.Save(r, fx)
	}
	if answer == grid.RegisterOK {
		s.answeredOwner(now, from)
		r.unlisted, r.lastWrite = false, now
		if wasOwner {
			s.StepDown(r)
		}
		s.follow(now, r, g.Epoch, from)
		s.changed(Moved, r) // also for a known epoch: a worker may have heard of an earlier owner only
		for _, i := range written {
			s.changes = append(s.changes, Change{Kind: Written, Of: r, Index: i})
		}
	}
	if r.state.Done && !before.Done {
		s.changed(Closed, r)
	}
	return answer
}

// Answer answers a register message. It repeats the job, epoch and sequence number that the answer is about. r is nil
// if this node has no replica.
func Answer(r *Replica, to grid.NodeID, kind grid.Kind, g *grid.RegisterMessage, a grid.RegisterAnswer, fx *grid.Effects) *grid.RegisterMessage {
	m := fx.Send(to, kind)
	m.Register.Job, m.Register.Epoch, m.Register.Seq, m.Register.Answer = g.Job, g.Epoch, g.Seq, a
	if a == grid.RegisterHigher && r != nil {
		m.Register.Epoch = r.state.Promised
		if r.ownerEpoch >= m.Register.Epoch {
			m.Register.Epoch, m.Register.Owner = r.ownerEpoch, r.owner
		}
	}
	return &m.Register
}

// Vote answers a member that campaigns for a new epoch.
func (s *Replicas) Vote(now grid.Time, from grid.NodeID, r *Replica, g *grid.RegisterMessage, fx *grid.Effects) {
	before, wasOwner := r.state, r.IsOwner()
	ownerAlive := !s.ownerSilent(now, r) || s.MayAct(now, r)
	// A node that became the owner since, with the votes of others, is alive as well, and no earlier owner acts any
	// more.
	a := r.Register.Vote(from, g.Epoch, ownerAlive && from != r.owner && (from != r.rival.Owner || r.rival.Epoch <= r.ownerEpoch))
	if wasOwner && !r.IsOwner() {
		s.StepDown(r)
	}
	if r.state != before {
		s.Save(r, fx)
		// Jitter over several ticks: two candidates that promised each other the same epoch would otherwise collide for
		// ever.
		r.campaignAt = now.Add(s.cfg.Lease + time.Duration(s.rng.Int64N(int64(s.cfg.Lease)*int64(1+r.successionRank()))))
	}
	m := Answer(r, from, grid.KindVote, g, a, fx)
	if a == grid.RegisterOK || a == grid.RegisterDone {
		m.Owner = r.state.Owner
		r.Page(g.Next, m)
		ConvertTimes(s.wall.At(now).UnixNano(), m.Entries)
	}
	if a == grid.RegisterDone && wasOwner {
		r.closeNotices = 0
	}
}

// Claimed records that a member says it is the owner. A real owner also writes to this node, which, if it is the owner
// itself, sends keepalives at once, at most each sixth of a lease: their answers tell.
func (s *Replicas) Claimed(now grid.Time, from grid.NodeID, r *Replica, c Claim, fx *grid.Effects) {
	if c.Owner != from || c.Epoch <= max(r.ownerEpoch, r.rival.Epoch) {
		return
	}
	r.rival = c
	if !r.IsOwner() || r.rivalChecked != 0 && now < r.rivalChecked.Add(s.cfg.Lease/6) {
		return
	}
	r.rivalChecked = now
	for _, id := range r.members {
		if id == s.cfg.Self {
			continue
		}
		if p := s.member(id); p.keepaliveSeq == 0 { // else the answer to the open keepalive will tell
			s.keepaliveOne(now, p, s.ownedWith(id), fx)
		}
	}
}

// Own makes this node, the origin, the first owner of a new register.
func (s *Replicas) Own(r *Replica) {
	r.BecomeOwner(s.nextTerm())
	r.owner, r.ownerEpoch, r.ownerSince, r.MembersVerified = r.state.Owner, r.state.Epoch, r.submitted, true
	s.MarkDirty(r)
}

// Resume resumes a replica after a restart. As the owner it acts once a majority has answered; as a member it may have
// answered the owner just before it stopped. It reports whether this node is the owner.
func (s *Replicas) Resume(now grid.Time, r *Replica) bool {
	st := r.state
	r.owner, r.ownerEpoch, r.ownerSince, r.lastWrite = st.Owner, st.Epoch, s.wall.At(now).UnixNano(), now
	r.campaignAt = now.Add(TakeoverDelay(s.cfg.Lease))
	if st.Owner != s.cfg.Self {
		s.answeredOwner(now, st.Owner)
	} else if r.BecomeOwner(s.nextTerm()); r.IsOwner() {
		s.MarkDirty(r)
		return true
	}
	s.StepDown(r)
	return false
}
