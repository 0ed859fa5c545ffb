package order

import (
	"cmp"
	"slices"

	"skep/grid"
)

// account is the use of a node, of all bids. A user has one of its own only where the node has several.
type account[T any] struct {
	node grid.NodeID
	use
	score float64  // as of the last refresh, or a later change
	pairs *pair[T] // of the node, linked
	lines int      // that count for it
	user  string   // the one whose use this is, too, while there are no others
	users []*user  // nil while there are no others; at most maxUsers, and one for all the rest
}

// user is the use of a user of a node.
type user struct {
	name string
	use
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
func (x *accounts[T]) sweep(used func(*use) float64) {
	if len(x.list) < max(x.sweepAt, minSweep) {
		return
	}
	for _, a := range x.list {
		if a.pairs == nil {
			a.score = used(&a.use)
		}
	}
	x.drop(func(a *account[T]) bool { return a.score < leastScored })
	if len(x.list) > maxAccounts {
		var scores []float64
		for _, a := range x.list {
			if a.pairs == nil && a.running == 0 {
				scores = append(scores, a.score)
			}
		}
		slices.SortFunc(scores, cmp.Compare)
		if n := min(len(x.list)-maxAccounts/2, len(scores)); n > 0 {
			x.drop(func(a *account[T]) bool { return a.score <= scores[n-1] })
		}
	}
	x.sweepAt = 2 * len(x.list)
}

// drop forgets accounts for which nothing counts.
func (x *accounts[T]) drop(gone func(*account[T]) bool) {
	x.list = slices.DeleteFunc(x.list, func(a *account[T]) bool {
		if a.pairs != nil || a.running > 0 || !gone(a) {
			return false
		}
		delete(x.index, a.node)
		return true
	})
}

// userOf returns the use of a user; nil = that of the account.
func (a *account[T]) userOf(name string) *user {
	for _, u := range a.users {
		if u.name == name {
			return u
		}
	}
	return nil
}

// addUser returns the use of a user of whom a line is added; nil = that of the account. With the second user each has
// one: what the account has used until then is the first one's.
func (a *account[T]) addUser(name string, used func(*use) float64) *user {
	if len(a.users) == 0 {
		if a.lines == 0 && a.running == 0 && used(&a.use) < leastScored || a.user == name {
			a.user = name
			return nil
		}
		first := &user{name: a.user, use: a.use, lines: a.lines}
		for p := a.pairs; p != nil; p = p.next {
			for _, l := range p.lines {
				l.by = first
			}
		}
		a.users = append(a.users, first)
	}
	u := a.userOf(name)
	if u == nil {
		a.sweepUsers(used)
		u = &user{name: name}
		a.users = append(a.users, u)
	}
	u.lines++
	return u
}

// sweepUsers forgets the users for whom nothing counts and who have used next to nothing.
func (a *account[T]) sweepUsers(used func(*use) float64) {
	a.users = slices.DeleteFunc(a.users, func(u *user) bool {
		return u.lines == 0 && u.running == 0 && used(&u.use) < leastScored
	})
}
