package register

import (
	"encoding/binary"
	"slices"

	"skep/sparse"
)

// with returns a copy of w in which member i may change.
func (w *world) with(i int) *world {
	n := *w
	r := *w.members[i]
	r.slots = cloned(&r.slots)
	if r.lead != nil {
		l := *r.lead
		l.peers = slices.Clone(l.peers)
		for k := range l.peers {
			l.peers[k].queue, l.peers[k].sent = slices.Clone(l.peers[k].queue), slices.Clone(l.peers[k].sent)
		}
		r.lead = &l
	}
	if r.bid != nil {
		b := *r.bid
		b.voters, b.best = slices.Clone(b.voters), cloned(&b.best)
		r.bid = &b
	}
	n.members[i] = &r
	return &n
}

// cloned copies a list.
func cloned[T any](l *sparse.List[T]) sparse.List[T] {
	c := sparse.Make[T](uint32(l.Len()))
	for i, x := range l.All() {
		*c.At(i) = *x
	}
	return c
}

// read returns an element, made or not.
func read[T any](l *sparse.List[T], i uint32) (x T) {
	if p := l.Peek(i); p != nil {
		x = *p
	}
	return x
}

// key names a world.
func (m *model) key(w *world) string {
	w.sent = slices.DeleteFunc(slices.Clone(w.sent), func(name uint16) bool { return m.void(w, &m.letters[name]) })
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
		s := &r.state
		b = append(b, w.boots[i], byte(s.Promised), s.To[0], byte(s.Epoch), s.Owner[0])
		bit(s.Done, r.lead != nil, r.bid != nil)
		for i := range uint32(r.slots.Len()) {
			x := read(&r.slots, i)
			bit(x.value != nil, x.final, x.old)
			if x.value != nil {
				b = append(b, byte(x.value.Epoch), byte(x.value.Attempt.Epoch), x.have)
			}
		}
		if r.lead != nil {
			b = append(b, byte(r.lead.seq), byte(r.lead.old))
			for _, p := range r.lead.peers {
				bit(p.holds, p.knows, p.told, p.deaf)
				b = append(b, byte(p.seq), byte(len(p.queue)), byte(len(p.sent)))
				for _, q := range append(slices.Clone(p.queue), p.sent...) {
					b = append(b, byte(q))
				}
			}
		}
		if r.bid != nil {
			b = append(b, byte(r.bid.epoch))
			bit(r.bid.others)
			for _, v := range r.bid.voters {
				b = append(b, byte(v.answer), byte(v.next))
				bit(v.whole)
			}
			for i := range uint32(r.bid.best.Len()) {
				f := read(&r.bid.best, i)
				if bit(f != nil); f != nil {
					b = append(b, byte(f.Epoch), byte(f.Attempt.Epoch))
				}
			}
		}
	}
	b = append(b, byte(w.chosen[0]), byte(w.chosen[1]))
	for _, n := range w.sent {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	return string(b)
}
