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

func (l *Ledger) hold(job grid.JobID, who Parties, size Amount) *holding {
	h := new(holding)
	if k := len(l.spare); k > 0 {
		h, l.spare = l.spare[k-1], l.spare[:k-1]
	}
	*h = holding{job: job, keys: who.keys(), who: [3]*account{2: &l.all}}
	for i, k := range h.keys {
		if k.node.IsZero() {
			continue
		}
		if h.who[i] = l.accounts[k]; h.who[i] == nil {
			if l.accounts == nil {
				l.accounts = make(map[key]*account)
			}
			h.who[i] = l.open()
			l.accounts[k] = h.who[i]
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
	for i, a := range h.who {
		switch {
		case a == nil:
		case i < len(h.keys) && a.kept == Amount{}:
			delete(l.accounts, h.keys[i])
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
const fewSpare = 64

// open returns an empty account.
func (l *Ledger) open() *account {
	k := len(l.unused)
	if k == 0 {
		return new(account)
	}
	a := l.unused[k-1]
	l.unused = l.unused[:k-1]
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
