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

func (l *Ledger) hold(id grid.AttemptID, who Parties, size Amount) *holding {
	h := new(holding)
	if k := len(l.spare); k > 0 {
		h, l.spare = l.spare[k-1], l.spare[:k-1]
	}
	*h = holding{id: id, who: [3]*account{2: &l.all}}
	for i, k := range who.keys() {
		if k.node.IsZero() {
			continue
		}
		if h.who[i] = l.accounts.Get(k); h.who[i] == nil {
			h.who[i] = l.open(k)
			l.accounts.Put(h.who[i])
		}
	}
	l.change(h, size)
	return h
}

// change adds to what a holding takes.
func (l *Ledger) change(h *holding, by Amount) {
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

func (l *Ledger) release(h *holding) {
	by := Amount{}
	by.add(&h.size, -1)
	l.change(h, by)
	h.gone = true
	for _, a := range h.who {
		switch {
		case a == nil:
		case a != &l.all && a.kept == Amount{}:
			l.accounts.Drop(a.key)
			if len(l.unused) < fewSpare {
				l.unused = append(l.unused, a)
			}
		case h.over:
			a.trim()
		}
	}
	if !h.over && len(l.spare) < fewSpare { // what is over may still be in lists
		l.spare = append(l.spare, h)
	}
}

// fewSpare bounds the memory that is kept for what comes next.
const fewSpare = 4

// open returns an empty account.
func (l *Ledger) open(k key) *account {
	n := len(l.unused)
	if n == 0 {
		return &account{key: k}
	}
	a := l.unused[n-1]
	l.unused = l.unused[:n-1]
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
