package order

import (
	"cmp"
	"slices"

	"skep/grid"
)

// account is the use of a node, of all bids. Of most nodes nothing is here but what they have used: so it is small.
type account[T any] struct {
	node grid.NodeID
	use
	user string // the one whose use this is, too, while there are no others
	here *here[T]
}

// here is what is of a node whose work is here, or that has several users: each has a use of its own then. It goes when
// the last pair does, unless there are several users.
type here[T any] struct {
	running
	score float64  // as of the last refresh, or a later change
	pairs *pair[T] // of the node, linked
	lines int      // that count for it
	users []*user  // nil while there is one; at most maxUsers, and one for all the rest
}

// pairs returns the pairs of a node, linked.
func (a *account[T]) pairs() *pair[T] {
	if a.here == nil {
		return nil
	}
	return a.here.pairs
}

// users returns the users of a node that has several.
func (a *account[T]) users() []*user {
	if a.here == nil {
		return nil
	}
	return a.here.users
}

// lines is how many lines count for a node.
func (a *account[T]) lines() int {
	if a.here == nil {
		return 0
	}
	return a.here.lines
}

// runs returns the running work of a node; nil = nothing is here.
func (a *account[T]) runs() *running {
	if a.here == nil {
		return nil
	}
	return &a.here.running
}

// add adds a pair to those of the account. What was used before the first one counts.
func (a *account[T]) add(p *pair[T], used func(*use, *running) float64) {
	if a.here == nil {
		a.here = &here[T]{score: used(&a.use, nil)}
	}
	p.of, p.next, a.here.pairs = a, a.here.pairs, p
}

// remove removes a pair from those of its account.
func (a *account[T]) remove(p *pair[T]) {
	at := &a.here.pairs
	for *at != p {
		at = &(*at).next
	}
	if *at = p.next; a.here.pairs == nil && len(a.here.users) == 0 {
		a.here = nil
	}
}

// user is the use of a user of a node.
type user struct {
	name string
	use
	running
	lines int
}

// Bounds of the accounts that are kept.
const (
	fewAccounts = 32   // that are searched; more have an index
	minSweep    = 4    // from which those are dropped that have used next to nothing
	maxAccounts = 1024 // without lines
	leastScored = 1.0  // core-seconds below which use is forgotten
)

// accounts are found by their node: a few are searched, more have an index.
type accounts[T any] struct {
	list    []*account[T]
	index   map[grid.NodeID]*account[T]
	sweepAt int // number at which those that are used up are dropped
}

func (x *accounts[T]) find(node grid.NodeID) *account[T] {
	if x.index != nil {
		return x.index[node]
	}
	for _, a := range x.list {
		if a.node == node {
			return a
		}
	}
	return nil
}

func (x *accounts[T]) add(node grid.NodeID) *account[T] {
	a := &account[T]{node: node}
	x.list = append(x.list, a)
	if x.index != nil {
		x.index[node] = a
	} else if len(x.list) > fewAccounts {
		x.index = make(map[grid.NodeID]*account[T])
		for _, a := range x.list {
			x.index[a.node] = a
		}
	}
	return a
}

// sweep forgets, once there are many, the accounts for which nothing counts and that have used next to nothing, and
// those of the least use where too many are left.
func (x *accounts[T]) sweep(used func(*use, *running) float64) {
	if len(x.list) < max(x.sweepAt, minSweep) {
		return
	}
	x.drop(func(a *account[T]) bool { return used(&a.use, a.runs()) < leastScored })
	if len(x.list) > maxAccounts {
		var scores []float64
		for _, a := range x.list {
			if a.isAway() {
				scores = append(scores, used(&a.use, a.runs()))
			}
		}
		slices.SortFunc(scores, cmp.Compare)
		if n := min(len(x.list)-maxAccounts/2, len(scores)); n > 0 {
			x.drop(func(a *account[T]) bool { return used(&a.use, a.runs()) <= scores[n-1] })
		}
	}
	x.sweepAt = 2 * len(x.list)
}

// isAway reports whether nothing that is here counts for the node.
func (a *account[T]) isAway() bool { return a.pairs() == nil }

// drop forgets accounts for which nothing counts.
func (x *accounts[T]) drop(gone func(*account[T]) bool) {
	x.list = slices.DeleteFunc(x.list, func(a *account[T]) bool {
		if !a.isAway() || !gone(a) {
			return false
		}
		delete(x.index, a.node)
		return true
	})
}

// userOf returns the use of a user; nil = that of the account.
func (a *account[T]) userOf(name string) *user {
	for _, u := range a.users() {
		if u.name == name {
			return u
		}
	}
	return nil
}

// addUser returns the use of a user of whom a line is added to a pair; nil = that of the account. With the second
// user each has one: what the account has used until then is the first one's.
func (a *account[T]) addUser(name string, used func(*use, *running) float64) *user {
	h := a.here
	if len(h.users) == 0 {
		if h.lines == 0 && used(&a.use, nil) < leastScored || a.user == name {
			a.user = name
			return nil
		}
		first := &user{name: a.user, use: a.use, running: h.running, lines: h.lines}
		for p := h.pairs; p != nil; p = p.next {
			for _, l := range p.lines {
				l.by = first
			}
		}
		h.users = append(h.users, first)
	}
	u := a.userOf(name)
	if u == nil {
		h.sweepUsers(used)
		u = &user{name: name}
		h.users = append(h.users, u)
	}
	u.lines++
	return u
}

// sweepUsers forgets the users for whom nothing counts and who have used next to nothing.
func (h *here[T]) sweepUsers(used func(*use, *running) float64) {
	h.users = slices.DeleteFunc(h.users, func(u *user) bool {
		return u.lines == 0 && used(&u.use, &u.running) < leastScored
	})
}
