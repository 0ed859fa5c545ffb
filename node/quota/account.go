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
	kept Amount
	over Amount     // of it, what jobs take that are over; their tasks are those that were written
	old  []*holding // those, in the order of their ends; some are gone
	gone int        // so many
}

// holding is one thing that is kept.
type holding struct {
	job  grid.JobID
	who  [3]*account // of the origin and of the sender, nil = there is none; of all
	keys [2]key
	size Amount
	over bool
	gone bool
}

func (p Parties) keys() [2]key { return [2]key{{p.Origin, true}, {p.Sender, false}} }

func (h *holding) parties() Parties { return Parties{h.keys[0].node, h.keys[1].node} }

func (s *Accounts) hold(job grid.JobID, who Parties, size Amount) *holding {
	h := new(holding)
	if k := len(s.spare); k > 0 {
		h, s.spare = s.spare[k-1], s.spare[:k-1]
	}
	*h = holding{job: job, keys: who.keys(), who: [3]*account{2: &s.all}}
	for i, k := range h.keys {
		if k.node.IsZero() {
			continue
		}
		if h.who[i] = s.accounts[k]; h.who[i] == nil {
			if s.accounts == nil {
				s.accounts = make(map[key]*account)
			}
			h.who[i] = s.open()
			s.accounts[k] = h.who[i]
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
	for i, a := range h.who {
		switch {
		case a == nil:
		case i < len(h.keys) && a.kept == Amount{}:
			delete(s.accounts, h.keys[i])
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
const fewSpare = 64

// open returns an empty account.
func (s *Accounts) open() *account {
	k := len(s.unused)
	if k == 0 {
		return new(account)
	}
	a := s.unused[k-1]
	s.unused = s.unused[:k-1]
	*a = account{}
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
