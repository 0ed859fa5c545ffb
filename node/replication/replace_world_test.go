package replication

import (
	"fmt"
	"slices"

	"skep/grid"
)

// changes visits the worlds in which a member, as the owner, goes on with the replacement of another one.
func (m *model) changes(w *world, i int, visit func(*world)) {
	r := w.members[i]
	if m.replaces == 0 || !r.IsOwner() || !r.Ready() || r.state.Done {
		return
	}
	if id := r.Joining(); !id.IsZero() {
		if !r.UpToDate(r.Place(id)) {
			return
		}
		for place, out := range r.Members() {
			if out != r.me && (m.out == 0 || out[0] == m.out) {
				n := w.with(i)
				n.members[i].Replace(place)
				if m.settles {
					s := *n.members[i].state.Set
					s.Extra = grid.NodeID{}
					n.members[i].learn(r.me, &s)
				}
				m.send(n, i)
				visit(n)
			}
		}
		return
	}
	for k := range w.members {
		if id := (grid.NodeID{byte(k + 1)}); r.seats.Settled() && r.seats.Number() < m.replaces && r.Place(id) < 0 {
			n := w.with(i)
			n.members[i].Join(id)
			m.send(n, i)
			visit(n)
		}
	}
}

// settle delivers all messages, in the order of their sending, until nothing is sent any more.
func (m *model) settle(w *world) {
	for n := 0; n < len(m.messages); n++ {
		l := m.messages[n]
		m.deliver(w, &l)
	}
}

// checkMemberships finds two that are settled for one number.
func (w *world) checkMemberships() {
	settled := map[uint32][]grid.NodeID{}
	for _, r := range w.members {
		if r == nil || r.state.Set == nil || !r.state.Set.Settled() || r.state.Set.Number == 0 {
			continue
		}
		n := r.state.Set.Number
		if other, known := settled[n]; known && !slices.Equal(other, r.state.Set.Members) {
			w.wrong = fmt.Sprintf("two memberships are settled as number %d", n)
		}
		settled[n] = r.state.Set.Members
	}
}

func appendMembership(b []byte, m *grid.Membership) []byte {
	if m == nil {
		return append(b, 0)
	}
	b = append(b, 1, byte(m.Number), byte(m.Epoch), byte(m.At), m.Extra[0])
	if m.Joining {
		b = append(b, 1)
	}
	for _, id := range m.Members {
		b = append(b, id[0])
	}
	return b
}

// appendSeats appends what a member knows of the memberships.
func (m *model) appendSeats(b []byte, r *Register) []byte {
	if m.replaces == 0 {
		return b
	}
	b = appendMembership(b, r.state.Set)
	if r.ownership == nil {
		return b
	}
	b = appendMembership(b, r.ownership.joining)
	for place, p := range r.ownership.progress {
		b = append(b, byte(p.older))
		if p.knows == r.setFor(place) {
			b = append(b, 1)
		}
		if p.sentSet == r.setFor(place) {
			b = append(b, 2)
		}
	}
	return b
}
