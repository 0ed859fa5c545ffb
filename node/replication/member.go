package replication

import (
	"time"

	"skep/grid"
)

// The role of a member that is not the owner.

// Write applies a write of an epoch's owner. The answer, by Answer, leaves once it is on disk.
func (r *Replica) Write(now grid.Time, from grid.NodeID, g *grid.RegisterMessage,
	fx *grid.Effects) grid.RegisterAnswer {
	if r.hear(from); !r.mayPromise() {
		return grid.RegisterUnknown // it is written again
	}
	before, wasOwner, late := r.state, r.IsOwner(), r.isLate(g)
	if r.heed(from, g.Set, fx); !r.provenWrite(from, g, fx) {
		r.saveIfChanged(&before, fx)
		return grid.RegisterUnknown
	}
	ConvertTimes(r.of.wall.At(now).UnixNano(), g.Entries)
	answer, written := r.Register.Write(from, g, r.of.written[:0])
	r.of.written = written
	r.saveIfChanged(&before, fx)
	r.followOpened(now, &before)
	if answer == grid.RegisterOK && !late {
		r.of.answeredOwner(now, from)
		r.unlisted, r.lastWrite = false, now
		if wasOwner {
			r.StepDown()
		}
		r.follow(now, g.Epoch, from)
		r.of.changed(grid.RegisterMoved, r) // also for a known epoch: a worker may have heard of an earlier owner only
	}
	for _, i := range written {
		r.of.changes.Add(grid.RegisterChange{Kind: grid.RegisterWritten, Job: r.id, Index: i})
	}
	if r.state.Done && (!before.Done || before.Opened < r.state.Opened) {
		r.of.changed(grid.RegisterClosed, r)
	}
	return answer
}

func (r *Replica) saveIfChanged(before *grid.RegisterState, fx *grid.Effects) {
	if r.state != *before {
		r.Save(fx)
	}
}

// Answer answers a register message.
func (r *Replica) Answer(to grid.NodeID, kind grid.Kind, g *grid.RegisterMessage, a grid.RegisterAnswer,
	fx *grid.Effects) {
	answer(r, to, kind, g, a, fx)
}

// answer answers a register message. It repeats the job, epoch and sequence number that the answer is about. r is nil
// if this node has no replica.
func answer(r *Replica, to grid.NodeID, kind grid.Kind, g *grid.RegisterMessage, a grid.RegisterAnswer,
	fx *grid.Effects) *grid.RegisterMessage {
	m := fx.Send(to, kind)
	m.Register.Job, m.Register.Epoch, m.Register.Seq, m.Register.Answer = g.Job, g.Epoch, g.Seq, a
	if r != nil {
		m.Register.Set, m.Register.Change = r.state.Set, r.signChange(to, kind, g, a)
	}
	if a == grid.RegisterHigher && r != nil {
		m.Register.Epoch = r.state.Promised
		if r.ownerEpoch >= m.Register.Epoch && r.namesOwner() {
			m.Register.Epoch, m.Register.Owner, m.Register.Mandate = r.ownerEpoch, r.owner, r.Mandate()
		}
	}
	return &m.Register
}

// Vote answers a member that campaigns for a new epoch.
func (r *Replica) Vote(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) {
	r.hear(from)
	if (!r.mayTell(from) || !r.mayPromise()) && !r.state.Done {
		answer(r, from, grid.KindVote, g, grid.RegisterLive, fx)
		return
	}
	before, wasOwner := r.state, r.IsOwner()
	if r.heed(from, g.Set, fx); r.stranger(from) == grid.RegisterReplaced {
		r.saveIfChanged(&before, fx)
		r.replyReplaced(now, from, g, fx)
		return
	}
	ownerAlive := !r.ownerSilent(now) || r.MayAct(now)
	if r.state.Done && g.Opened > r.state.Opened { // the owner of a closed register does not act
		ownerAlive = false
	}
	// A node that became the owner since, with the votes of others, is alive as well, and no earlier owner acts any
	// more. Of a signed job its claim has shown the votes.
	a := r.Register.Vote(from, g.Epoch, g.Opened, ownerAlive && from != r.owner &&
		(from != r.rival.Owner || r.rival.Epoch <= r.ownerEpoch))
	if wasOwner && !r.IsOwner() {
		r.StepDown()
	}
	r.followOpened(now, &before)
	if before.Opened < r.state.Opened { // its owner has no part in what is open again, and may be alive
		r.unlisted, r.lastWrite = true, now
	}
	if r.state != before {
		r.Save(fx)
		// Jitter over several ticks: two candidates that promised each other the same epoch would otherwise collide for
		// ever.
		r.campaignAt = now.Add(r.of.cfg.Lease +
			time.Duration(r.of.rng.Int64N(int64(r.of.cfg.Lease)*int64(1+r.successionRank()))))
	}
	m := answer(r, from, grid.KindVote, g, a, fx)
	m.Opened = r.state.Opened
	if a == grid.RegisterOK || a == grid.RegisterDone {
		m.Owner, m.Vote = r.state.Owner, r.signVote(a, g.Epoch, from)
		r.Page(g.Next, m)
		ConvertTimes(r.of.wall.At(now).UnixNano(), m.Entries)
	}
	if a == grid.RegisterDone && wasOwner {
		r.closeNotices = 0
	}
}

// Claimed records that a member says it is the owner. A real owner also writes to this node, which, if it is the owner
// itself, sends keepalives at once, at most each sixth of a lease: their answers tell. Of a signed job a claim carries
// the votes for the claimant. An announcement has no room for them, and is no claim then.
func (r *Replica) Claimed(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, announced bool, fx *grid.Effects) {
	if g.Owner != from || g.Epoch <= max(r.ownerEpoch, r.rival.Epoch) || announced && r.chain != nil {
		return
	}
	if !r.provenClaim(from, g, fx) {
		return
	}
	r.rival = grid.OwnerClaim{Owner: from, Epoch: g.Epoch}
	if !r.IsOwner() || r.rivalChecked != 0 && now < r.rivalChecked.Add(r.of.cfg.Lease/6) {
		return
	}
	r.rivalChecked = now
	for _, id := range r.seats.Members() {
		if id == r.of.cfg.Self {
			continue
		}
		if p := r.of.member(id); p.keepaliveSeq == 0 { // else the answer to the open keepalive will tell
			r.of.keepaliveOne(now, p, r.of.ownedWith(id), fx)
		}
	}
}

// Own makes this node, the origin, the first owner of a new register.
func (r *Replica) Own(now grid.Time) {
	r.BecomeOwner(r.of.nextTerm())
	r.owner, r.ownerEpoch, r.ownerSince = r.state.Owner, r.state.Epoch, r.submitted
	r.ledSince = now
	r.MarkDirty()
}

// Resume resumes a replica after a restart. As the owner it acts once a majority has answered; as a member it may have
// answered the owner just before it stopped. It reports whether this node is the owner.
func (r *Replica) Resume(now grid.Time) bool {
	st := r.state
	r.heard.restored = true
	r.owner, r.ownerEpoch, r.ownerSince, r.lastWrite = st.Owner, st.Epoch, r.of.wall.At(now).UnixNano(), now
	r.campaignAt = now.Add(TakeoverDelay(r.of.cfg.Lease))
	if st.Owner != r.of.cfg.Self {
		r.of.answeredOwner(now, st.Owner)
	} else if r.BecomeOwner(r.of.nextTerm()); r.IsOwner() {
		r.ledSince = now
		r.MarkDirty()
		return true
	}
	r.StepDown()
	return false
}
