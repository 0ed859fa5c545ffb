package quota

import (
	"slices"

	"skep/grid"
)

// key names an account: what a node sent and what it is the origin of are counted apart.
type key struct {
	node   grid.NodeID
	origin bool
}

type account struct {
	key
	kept Amount
	over Amount     // of it, what jobs take that are over; their tasks are those that were written
	old  []*holding // those, in the order of their ends; some are gone
	gone int        // so many
}

// Key implements [sparse.Keyed].
func (a *account) Key() key { return a.key }

// holding is one thing that is kept.
type holding struct {
	id   grid.AttemptID // of a job only its Job
	who  [3]*account    // of the origin and of the sender, nil = there is none; of all
	size Amount
	over bool
	gone bool
}

// jobHolding and offerHolding are holdings by their keys; nil where there is none.
type (
	jobHolding   struct{ *holding }
	offerHolding struct{ *holding }
)

// Key implements [sparse.Keyed].
func (h jobHolding) Key() grid.JobID { return h.id.Task.Job }

// Key implements [sparse.Keyed].
func (h offerHolding) Key() grid.AttemptID { return h.id }

func (p Parties) keys() [2]key { return [2]key{{p.Origin, true}, {p.Sender, false}} }

func (h *holding) parties() (p Parties) {
	if a := h.who[0]; a != nil {
		p.Origin = a.node
	}
	if a := h.who[1]; a != nil {
		p.Sender = a.node
	}
	return p
}

func (s *Accounts) hold(id grid.AttemptID, who Parties, size Amount) *holding {
	h := new(holding)
	if k := len(s.spare); k > 0 {
		h, s.spare = s.spare[k-1], s.spare[:k-1]
	}
	*h = holding{id: id, who: [3]*account{2: &s.all}}
	for i, k := range who.keys() {
		if k.node.IsZero() {
			continue
		}
		if h.who[i] = s.accounts.Get(k); h.who[i] == nil {
			h.who[i] = s.open(k)
			s.accounts.Put(h.who[i])
		}
	}
	s.change(h, size)
	return h
}

// change adds to what a holding takes.
func (s *Accounts) change(h *holding, by Amount) {
	h.size.add(&by, 1)
	for _, a := range h.who {
		if a == nil {
			continue
		}
		a.kept.add(&by, 1)
		if h.over {
			a.over.add(&by, 1)
		}
	}
}

func (s *Accounts) release(h *holding) {
	by := Amount{}
	by.add(&h.size, -1)
	s.change(h, by)
	h.gone = true
	for _, a := range h.who {
		switch {
		case a == nil:
		case a != &s.all && a.kept == Amount{}:
			s.accounts.Drop(a.key)
			if len(s.unused) < fewSpare {
				s.unused = append(s.unused, a)
			}
		case h.over:
			a.trim()
		}
	}
	if !h.over && len(s.spare) < fewSpare { // what is over may still be in lists
		s.spare = append(s.spare, h)
	}
}

// fewSpare bounds the memory that is kept for what comes next.
const fewSpare = 4

// open returns an empty account.
func (s *Accounts) open(k key) *account {
	n := len(s.unused)
	if n == 0 {
		return &account{key: k}
	}
	a := s.unused[n-1]
	s.unused = s.unused[:n-1]
	*a = account{key: k}
	return a
}

// open is what an account takes that is not over.
func (a *account) open() Amount {
	open := a.kept
	open.add(&a.over, -1)
	return open
}

// trim notes that one of those that are over is gone, and closes the holes when they are many.
func (a *account) trim() {
	if a.gone++; 2*a.gone > len(a.old) {
		a.old, a.gone = slices.DeleteFunc(a.old, func(h *holding) bool { return h.gone }), 0
	}
}

// first is the one that has been over for longest.
func (a *account) first() *holding {
	for _, h := range a.old {
		if !h.gone {
			return h
		}
	}
	return nil
}
