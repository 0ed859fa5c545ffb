package replication

import (
	"encoding/binary"
	"slices"

	"skep/sparse"
)

// with returns a copy of w in which member i may change.
func (w *world) with(i int) *world {
	n := *w
	if w.members[i] == nil {
		return &n
	}
	r := *w.members[i]
	r.slots = cloned(&r.slots)
	if r.ownership != nil {
		l := *r.ownership
		l.progress = slices.Clone(l.progress)
		for k := range l.progress {
			l.progress[k].queue, l.progress[k].sent = slices.Clone(l.progress[k].queue), slices.Clone(l.progress[k].sent)
		}
		r.ownership = &l
	}
	if r.campaign != nil {
		b := *r.campaign
		b.votes, b.entries = slices.Clone(b.votes), cloned(&b.entries)
		r.campaign = &b
	}
	n.members[i] = &r
	return &n
}

// cloned returns a copy of a list.
func cloned[T any](l *sparse.List[T]) sparse.List[T] {
	c := sparse.Make[T](uint32(l.Len()))
	for i, x := range l.All() {
		*c.At(i) = *x
	}
	return c
}

// read returns an element without allocating it.
func read[T any](l *sparse.List[T], i uint32) (x T) {
	if p := l.Peek(i); p != nil {
		x = *p
	}
	return x
}

// key identifies a world.
func (m *model) key(w *world) string {
	w.sent = slices.DeleteFunc(slices.Clone(w.sent), func(name uint16) bool { return m.noEffect(w, &m.messages[name]) })
	var b []byte
	bit := func(xs ...bool) {
		for _, x := range xs {
			if x {
				b = append(b, 1)
			} else {
				b = append(b, 0)
			}
		}
	}
	for i, r := range w.members {
		if r == nil {
			continue
		}
		s := &r.state
		b = m.appendSeats(append(b, byte(i)), r)
		b = append(b, w.boots[i], byte(s.Promised), s.VotedFor[0], byte(s.Epoch), s.Owner[0], byte(s.Opened))
		bit(s.Done, r.ownership != nil, r.campaign != nil, w.buried[i])
		b = append(b, byte(r.closedIn))
		for i := range uint32(r.slots.Len()) {
			x := read(&r.slots, i)
			bit(x.value != nil, x.committed, x.inherited)
			if x.value != nil {
				b = append(b, byte(x.value.Epoch), byte(x.value.Attempt.Epoch), byte(x.value.Round), x.acceptedBy)
			}
		}
		if r.ownership != nil {
			b = append(b, byte(r.ownership.seq), byte(r.ownership.inherited))
			for _, p := range r.ownership.progress {
				bit(p.accepted, p.knowsDone, p.sentDone, p.refused)
				b = append(b, byte(p.seq), byte(p.seq>>8), byte(len(p.queue)), byte(len(p.sent)))
				for _, q := range p.queue {
					b = append(b, byte(q))
				}
				for _, x := range p.sent {
					b = append(b, byte(x.Index), byte(x.Round))
				}
			}
		}
		if r.campaign != nil {
			b = append(b, byte(r.campaign.epoch), byte(r.campaign.opened))
			bit(r.campaign.otherAccepted)
			for _, v := range r.campaign.votes {
				b = append(b, byte(v.answer), byte(v.next))
				bit(v.complete)
			}
			for i := range uint32(r.campaign.entries.Len()) {
				f := read(&r.campaign.entries, i)
				if bit(f != nil); f != nil {
					b = append(b, byte(f.Epoch), byte(f.Attempt.Epoch), byte(f.Round))
				}
			}
		}
	}
	b = append(b, byte(w.chosen[0]), byte(w.chosen[1]), byte(w.chosen[2]), byte(w.chosen[4]))
	for _, n := range w.sent {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	return string(b)
}
