package replication

import "skep/grid"

// The owner's writes to the other members.

// MarkDirty schedules a register to send writes at the end of the step.
func (r *Replica) MarkDirty() {
	if !r.dirty && !r.Sole() {
		r.dirty = true
		r.of.dirty = append(r.of.dirty, r)
	}
}

// Propose decides an entry as the owner, and has it written to the other members: see Register.Propose.
func (r *Replica) Propose(f *grid.Entry) {
	r.Register.Propose(f)
	r.MarkDirty()
}

// SendWrites sends, for each register marked dirty, the next write to each member that has answered the one before.
func (s *Replicas) SendWrites(now grid.Time, fx *grid.Effects) {
	for k, r := range s.dirty {
		s.dirty[k] = nil
		r.dirty = false
		for place, id := range r.seats.Places() {
			if !r.mayTell(id) {
				continue
			}
			m := fx.Send(id, grid.KindWrite)
			if !r.NextWrite(place, &m.Register) {
				fx.Sends = fx.Sends[:len(fx.Sends)-1]
				continue
			}
			r.writeSent[place] = now
			r.fill(now, place, m)
		}
	}
	s.dirty = s.dirty[:0]
}

// writeAgain repeats the write under way to a member.
func (r *Replica) writeAgain(now grid.Time, place int, fx *grid.Effects) {
	if !r.mayTell(r.seats.Places()[place]) {
		return
	}
	m := fx.Send(r.seats.Places()[place], grid.KindWrite)
	if r.RepeatWrite(place, &m.Register) {
		r.fill(now, place, m)
		return
	}
	fx.Sends = fx.Sends[:len(fx.Sends)-1]
}

// fill completes a write. A member that has accepted nothing in this epoch gets the job's description too.
func (r *Replica) fill(now grid.Time, place int, m *grid.Message) {
	wall := r.of.wall.At(now).UnixNano()
	m.Register.Job = r.id
	if !r.HasAccepted(place) {
		r.describe(wall, &m.Register)
		m.Register.Mandate = r.state.Mandate
	}
	ConvertTimes(wall, m.Register.Entries)
}

// Resend repeats unanswered writes and the keepalive to a member that has reconnected: a majority may depend on it.
func (s *Replicas) Resend(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	for _, r := range s.With(id) {
		if place := r.Place(id); r.IsOwner() && place >= 0 && r.writeSent[place] != 0 { // it may have no place any more
			r.writeAgain(now, place, fx)
		}
	}
	if p := s.by.Get(id); p != nil {
		s.keepaliveOne(now, p, s.ownedWith(id), fx)
	}
}

// Repeat repeats writes that were not answered for long, and those that were refused. It reports whether each member
// has accepted everything.
func (r *Replica) Repeat(now grid.Time, fx *grid.Effects) (settled bool) {
	settled = true
	for place := range r.seats.Places() {
		settled = settled && r.UpToDate(place)
		switch {
		case r.HasRefused(place):
			r.Retry(place)
			r.MarkDirty()
		case r.writeSent[place] != 0 && now >= r.writeSent[place].Add(r.of.cfg.Lease/6):
			r.writeAgain(now, place, fx)
		}
	}
	return settled
}

// Answered takes a member's answer to a write; it appends the committed entries to dst, and reports whether it answered
// the write under way.
func (r *Replica) Answered(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, dst []uint32,
	fx *grid.Effects) ([]uint32, bool) {
	set := r.state.Set
	if g.Answer != grid.RegisterOK {
		r.heed(from, g.Set, fx)
	}
	before, accepted := r.seats.Places(), r.HasAccepted(r.Place(from))
	committed, valid := r.WriteAnswered(from, g, dst)
	if r.state.Set != set {
		r.Save(fx)
		if r.reseated(before); r.IsOwner() {
			r.of.changed(grid.RegisterReseated, r)
			r.MarkDirty()
		}
	}
	place := r.Place(from)
	if !valid || place < 0 {
		return committed, valid
	}
	if g.Answer == grid.RegisterOK {
		r.acked[place] = max(r.acked[place], r.writeSent[place])
		if p := r.of.member(from); !accepted { // from now on keepalives list this register
			r.acceptedAt[place] = now
			// the answer may be to the first copy, so of the lease little may be left; many late answers share a keepalive
			if late := r.of.cfg.Lease / 6; p.keepaliveSeq == 0 && now >= p.keepaliveSent.Add(late) &&
				now >= r.writeSent[place].Add(late) {
				r.acceptedAt[place] = now - 1
				r.of.keepaliveOne(now, p, r.of.ownedWith(from), fx)
			}
		}
	}
	if g.Answer == grid.RegisterHigher {
		r.sawHigherEpoch(now, from, g, fx)
	}
	r.writeSent[place] = 0
	return committed, true
}

// maxCloseNotices bounds how often a job's close is sent to members that do not answer; those that return later ask.
const maxCloseNotices = 5

// CountCloseNotice counts that a job's close was sent again, and reports whether it may be once more.
func (r *Replica) CountCloseNotice() bool {
	r.closeNotices++
	return r.closeNotices <= maxCloseNotices
}
