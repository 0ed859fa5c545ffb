package register

import (
	"math/bits"
	"slices"

	"skep/grid"
)

// lead is what the owner keeps of the other members. To each of them at most one write is under way; what
// gathers meanwhile goes with the next one.
type lead struct {
	peers []follower // by place; that of the owner is not used
	seq   uint64
	old   int // entries that an earlier epoch left and that are not final in this one yet
}

type follower struct {
	holds bool     // it has accepted something in this epoch
	knows bool     // that all is done
	told  bool     // that, by the write under way
	deaf  bool     // it refused the last write: it is left alone until Retry
	full  bool     // for want of room, and it holds what it had
	queue []uint32 // to be written
	sent  []uint32 // written, and not answered
	seq   uint64   // of that write; 0 = none is under way
}

// Lead makes a member the owner that it is according to its state: at the origin of a new job, or after a
// restart. Entries that are not final are written again. seq must be above all that this member ever used.
func (r *Register) Lead(seq uint64) {
	s := &r.state
	me := r.members[r.self]
	if s.Epoch == 0 {
		*s = State{Promised: 1, To: me, Epoch: 1, Owner: me}
	}
	if s.Owner != me || s.To != me || s.Promised != s.Epoch {
		return
	}
	r.bid = nil
	r.lead = &lead{peers: make([]follower, len(r.members)), seq: seq}
	for i, x := range r.slots.All() {
		if x.value == nil {
			continue
		}
		x.have = 1 << r.self
		if x.old = !x.final; x.old {
			r.lead.old++
		}
		r.spread(i)
	}
}

// Leads reports whether this member is the owner as far as it knows.
func (r *Register) Leads() bool { return r.lead != nil }

// Ready reports whether a majority has accepted the owner's epoch and all that earlier ones left.
func (r *Register) Ready() bool {
	if r.lead == nil || r.lead.old > 0 {
		return false
	}
	n := 1
	for i := range r.lead.peers {
		if r.lead.peers[i].holds {
			n++
		}
	}
	return n >= r.Majority()
}

// Holds reports whether the member of that place has accepted the owner's epoch.
func (r *Register) Holds(place int) bool { return r.lead != nil && r.lead.peers[place].holds }

// Deaf reports whether a member refused the last write: it is left alone until Retry.
func (r *Register) Deaf(place int) bool { return r.lead != nil && r.lead.peers[place].deaf }

// Full reports whether a member refused the last write for want of room.
func (r *Register) Full(place int) bool { return r.lead != nil && r.lead.peers[place].full }

// Retry lets a member that refused the last write be written to again: what it had no room for, or, if it said anything else, from the
// start.
func (r *Register) Retry(place int) {
	if p := &r.lead.peers[place]; p.full && p.holds {
		p.deaf = false
		return
	}
	r.Doubt(place)
}

// Resign makes an owner a mere member: it has heard of a higher epoch.
func (r *Register) Resign() { r.lead, r.bid = nil, nil }

// Doubt forgets that a member has accepted the epoch: it is written to again, from the start.
func (r *Register) Doubt(place int) {
	if r.lead == nil || place == r.self {
		return
	}
	p := &r.lead.peers[place]
	*p = follower{queue: p.queue[:0]}
	for i := range r.Written() {
		p.queue = append(p.queue, i)
	}
}

// Propose makes an entry the owner's word, to be saved here and written to the others. An entry is proposed once.
func (r *Register) Propose(f *grid.Final) {
	if v, _ := r.Value(f.Index); r.lead == nil || v != nil {
		panic("register: the owner decides each entry once")
	}
	f.Epoch = r.state.Epoch
	r.put(f.Index, slot{value: f, have: 1 << r.self})
	r.spread(f.Index)
}

func (r *Register) spread(i uint32) {
	for k := range r.lead.peers {
		if k != r.self {
			p := &r.lead.peers[k]
			p.queue = append(p.queue, i)
		}
	}
}

// Finish notes that every task has ended and that this is final; the others are told. A try to renew the epoch has become
// needless, and won it would forget the end.
func (r *Register) Finish() { r.bid, r.state.Done = nil, true }

// Next fills g with the next write to a member, and reports whether there is one: nothing is under way, and
// something is to be said.
func (r *Register) Next(place int, g *grid.Register) bool {
	if r.lead == nil || place == r.self {
		return false
	}
	p := &r.lead.peers[place]
	if p.seq != 0 || p.deaf || p.holds && len(p.queue) == 0 && (p.knows || !r.state.Done) {
		return false
	}
	r.lead.seq++
	p.seq = r.lead.seq
	size, n := 0, 0
	for _, i := range p.queue {
		if !p.holds { // first it is told what the job is
			break
		}
		if size += Weight(r.slots.At(i).value); n == grid.MaxFinals || n > 0 && size > int(grid.MaxFinalsSize) {
			break
		}
		n++
	}
	p.sent = append(p.sent[:0], p.queue[:n]...)
	p.queue = append(p.queue[:0], p.queue[n:]...)
	p.told = r.state.Done && len(p.queue) == 0
	return r.Again(place, g)
}

// Again fills g with the write to a member that is under way, if there is one.
func (r *Register) Again(place int, g *grid.Register) bool {
	if r.lead == nil || r.lead.peers[place].seq == 0 {
		return false
	}
	p := &r.lead.peers[place]
	g.Epoch, g.Seq = r.state.Epoch, p.seq
	for _, i := range p.sent {
		g.Finals = append(g.Finals, *r.slots.At(i).value)
	}
	g.Done = p.told
	return true
}

// Wrote takes a member's answer to a write and appends the entries that are final now and were not before.
// It reports whether it was an answer to the write under way.
func (r *Register) Wrote(from grid.NodeID, g *grid.Register, dst []uint32) ([]uint32, bool) {
	place := r.Place(from)
	if r.lead == nil || place < 0 || place == r.self {
		return dst, false
	}
	p := &r.lead.peers[place]
	if p.seq == 0 || g.Seq != p.seq {
		return dst, false
	}
	if g.Answer == grid.RegisterFull && p.holds {
		p.queue = append(slices.Clone(p.sent), p.queue...)
		p.sent, p.seq, p.deaf, p.full = p.sent[:0], 0, true, true
		return dst, true
	}
	if g.Answer != grid.RegisterOK || g.Epoch != r.state.Epoch {
		r.Doubt(place)
		p.deaf, p.full = true, g.Answer == grid.RegisterFull
		return dst, true
	}
	p.holds, p.full, p.seq = true, false, 0
	p.knows = p.told
	for _, i := range p.sent {
		x := r.slots.At(i)
		x.have |= 1 << place
		if !x.final && bits.OnesCount8(x.have) >= r.Majority() {
			x.final = true
			dst = append(dst, i)
			if x.old {
				x.old = false
				r.lead.old--
			}
		}
	}
	p.sent = p.sent[:0]
	return dst, true
}

// Settled reports whether the member of that place has all that there is to say.
func (r *Register) Settled(place int) bool {
	if r.lead == nil || place == r.self {
		return true
	}
	p := &r.lead.peers[place]
	return p.holds && p.seq == 0 && len(p.queue) == 0 && (p.knows || !r.state.Done)
}
