package replication

import "skep/grid"

// ownership is the owner's state: its progress with the other members. Each has at most one write under way; entries
// proposed meanwhile go with the next one.
type ownership struct {
	progress  []progress // by place; the owner's own is not used
	own       [1]progress
	seq       uint64
	inherited int              // entries of an earlier epoch that are not committed in this one yet
	joining   *grid.Membership // what the node that joins is told; nil = none does
	proposal  *proposal        // of a signed job: the change that the members are asked to sign; nil = none
}

type progress struct {
	accepted  bool             // it has accepted a write of this epoch
	knowsDone bool             // it knows that the job is closed
	sentSet   *grid.Membership // the membership that the write under way told, when it was sent first
	sentDone  bool             // the write under way says that the job is closed
	refused   bool             // it refused the last write: nothing is sent until Retry
	full      bool             // it refused for want of quota
	older     int              // entries in queue and sent that were written before the change that is not settled
	knows     *grid.Membership // what it has last said it knows: see setFor
	queue     []uint32         // entries to write: those with the member's bit in slot.queued
	sent      []*grid.Entry    // of the write under way; repeated as they are, whatever has succeeded them since
	seq       uint64           // sequence number of the write under way; 0 = none
}

// BecomeOwner makes a member the owner, if its state says so: at the origin of a new job, or after a restart.
// Uncommitted entries are written again. seq must be above any that this member ever used.
func (r *Register) BecomeOwner(seq uint64) {
	s, self := &r.state, r.me
	if s.Epoch == 0 {
		*s = grid.RegisterState{Promised: 1, VotedFor: self, Epoch: 1, Owner: self, Genesis: s.Genesis}
	}
	if s.Owner != self || s.VotedFor != self || s.Promised != s.Epoch || !r.MayOwn() {
		return
	}
	r.campaign = nil
	r.depose()
	r.ownership = &ownership{seq: seq}
	r.ownSigned()
	if r.ownership.progress = r.ownership.own[:]; !r.Sole() {
		r.ownership.progress = make([]progress, len(r.seats.Places()))
	}
	for i, x := range r.slots.All() {
		if x.queued, x.decidedNow = 0, false; x.value == nil {
			continue
		}
		x.acceptedBy = r.bit()
		if x.inherited = !x.committed; x.inherited {
			r.ownership.inherited++
		}
		r.enqueue(i)
	}
	r.awaitOlder()
}

// IsOwner reports whether this member is the owner, as far as it knows.
func (r *Register) IsOwner() bool { return r.ownership != nil }

// Ready reports whether a majority has accepted the owner's epoch and all entries of earlier epochs.
func (r *Register) Ready() bool {
	if r.ownership == nil || r.ownership.inherited > 0 {
		return false
	}
	accepted := uint8(0)
	for i := range r.ownership.progress {
		if r.ownership.progress[i].accepted {
			accepted |= 1 << i
		}
	}
	return r.decides(accepted)
}

// HasAccepted reports whether a member has accepted the owner's epoch. place is −1 of a node that has none any more.
func (r *Register) HasAccepted(place int) bool {
	return r.ownership != nil && place >= 0 && r.ownership.progress[place].accepted
}

// HasRefused reports whether a member refused the last write: nothing is sent to it until Retry.
func (r *Register) HasRefused(place int) bool {
	return r.ownership != nil && r.ownership.progress[place].refused
}

// Full reports whether a member refused the last write for want of quota.
func (r *Register) Full(place int) bool {
	return r.ownership != nil && r.ownership.progress[place].full
}

// Retry resumes writes to a member that refused the last one: with the refused entries if that was for want of quota
// and it has accepted the epoch, otherwise from the start.
func (r *Register) Retry(place int) {
	if p := &r.ownership.progress[place]; p.full && p.accepted {
		p.refused = false
		return
	}
	r.ResetProgress(place)
}

// ResetProgress forgets that a member has accepted the epoch: writes to it start again from the first entry.
func (r *Register) ResetProgress(place int) {
	if r.ownership == nil || place == r.self {
		return
	}
	p := &r.ownership.progress[place]
	*p = progress{queue: p.queue}
	for i := range r.Written() {
		r.enqueueFor(place, i)
	}
	p.older = len(p.queue)
}

// Propose decides an entry as the owner. The caller saves it; it is written to the others, and committed without any.
// An entry is proposed once. An open one is succeeded by that of the next round, and a committed final one by a retry,
// which the owner has opened the register for. Of two rounds of an epoch the later one counts, so an open one need not
// be committed.
func (r *Register) Propose(f *grid.Entry) {
	switch v, committed := r.Value(f.Index); {
	case r.ownership == nil || v != nil && !v.Open() && !(f.IsRetry() && committed && r.state.Opened > 0):
		panic("register: the owner decides each entry once")
	case v == nil && f.Round != 0 || v != nil && f.Round != v.Round+1:
		panic("register: rounds follow each other")
	case v != nil && r.slots.At(f.Index).inherited:
		r.ownership.inherited--
	}
	f.Epoch = r.state.Epoch
	r.set(f.Index, slot{value: f, acceptedBy: r.bit(), committed: r.Sole(), queued: r.slots.At(f.Index).queued,
		decidedNow: true})
	r.enqueue(f.Index)
}

func (r *Register) enqueue(i uint32) {
	for k := range r.ownership.progress {
		if k != r.self {
			r.enqueueFor(k, i)
		}
	}
}

// enqueueFor queues an entry for a member, once.
func (r *Register) enqueueFor(place int, i uint32) {
	if x := r.slots.At(i); x.queued&(1<<place) == 0 {
		x.queued |= 1 << place
		p := &r.ownership.progress[place]
		p.queue = append(p.queue, i)
	}
}

// Close records that every task has ended and is committed; the others are told. A campaign to renew the epoch is
// abandoned: won, it would forget the close.
func (r *Register) Close() { r.campaign, r.state.Done = nil, true }

// NextWrite fills g with the next write to a member, and reports whether there is one: no write is under way, and there
// is something to write.
func (r *Register) NextWrite(place int, g *grid.RegisterMessage) bool {
	if r.ownership == nil || place == r.self {
		return false
	}
	p := &r.ownership.progress[place]
	if p.seq != 0 || p.refused || p.accepted && len(p.queue) == 0 && (p.knowsDone || !r.state.Done) &&
		p.knows == r.setFor(place) && !r.asksToSign(place) {
		return false
	}
	r.ownership.seq++
	p.seq = r.ownership.seq
	size, n := 0, 0
	for _, i := range p.queue {
		if !p.accepted { // the first write only describes the job
			break
		}
		if size += r.slots.At(i).value.Weight(); n == grid.MaxEntries || n > 0 && size > int(grid.MaxEntriesSize) {
			break
		}
		n++
	}
	p.sent = p.sent[:0]
	for _, i := range p.queue[:n] {
		x := r.slots.At(i)
		x.queued &^= 1 << place
		p.sent = append(p.sent, x.value)
	}
	p.queue = append(p.queue[:0], p.queue[n:]...)
	p.sentDone, p.sentSet = r.state.Done && len(p.queue) == 0, r.setFor(place)
	return r.RepeatWrite(place, g)
}

// RepeatWrite fills g with the write under way to a member, if there is one.
func (r *Register) RepeatWrite(place int, g *grid.RegisterMessage) bool {
	if r.ownership == nil || r.ownership.progress[place].seq == 0 {
		return false
	}
	p := &r.ownership.progress[place]
	g.Epoch, g.Seq, g.Opened, g.Set = r.state.Epoch, p.seq, r.state.Opened, r.setFor(place)
	g.Done, g.Change = p.sentDone, r.ask(place)
	for _, f := range p.sent {
		g.Entries = append(g.Entries, *f)
	}
	return true
}

// WriteAnswered handles a member's answer to a write and appends the newly committed entries. It reports whether it
// answered the write under way.
func (r *Register) WriteAnswered(from grid.NodeID, g *grid.RegisterMessage, dst []uint32) ([]uint32, bool) {
	place := r.Place(from)
	if r.ownership == nil || place < 0 || place == r.self {
		return dst, false
	}
	p := &r.ownership.progress[place]
	if p.seq == 0 || g.Seq != p.seq {
		return dst, false
	}
	if g.Answer == grid.RegisterFull && p.accepted {
		for _, f := range p.sent {
			r.enqueueFor(place, f.Index)
		}
		p.sent, p.seq, p.refused, p.full, p.older = p.sent[:0], 0, true, true, len(p.queue)
		return dst, true
	}
	if g.Answer != grid.RegisterOK || g.Epoch != r.state.Epoch {
		r.ResetProgress(place)
		r.forgetNewcomer(place, g)
		p.refused, p.full = true, g.Answer == grid.RegisterFull
		return dst, true
	}
	p.accepted, p.full, p.seq, p.knowsDone = true, false, 0, p.sentDone
	p.older = max(p.older-len(p.sent), 0)
	p.refused = !r.toldSet(place, g.Set) && p.sentSet == r.setFor(place)
	r.endorse(place, g.Change)
	for _, f := range p.sent {
		x := r.slots.At(f.Index)
		if x.value.Round != f.Round { // the later round is queued
			continue
		}
		x.acceptedBy |= 1 << place
		dst = r.commitAccepted(f.Index, x, dst)
	}
	p.sent = p.sent[:0]
	return r.settle(dst), true
}

// UpToDate reports whether a member has accepted everything.
func (r *Register) UpToDate(place int) bool {
	if r.ownership == nil || place == r.self {
		return true
	}
	p := &r.ownership.progress[place]
	return p.accepted && p.seq == 0 && len(p.queue) == 0 && (p.knowsDone || !r.state.Done) && p.knows == r.setFor(place)
}
