package order

import (
	"math"

	"skep/grid"
)

// How many lines there can be, whatever comes. What would be one more goes into one that is there:
//
//	bids       under fair those of a band are one, and a node has at most maxBids bands at a time: what is of a further
//	           one goes with the highest lower band of the node, or else with the lowest
//	users      of a node at most maxUsers, and at most maxOfNode lines: those of further ones share one line for a band
//	nodes      from maxLines lines on, further nodes share otherNodes accounts
//	in total   maxLines + otherNodes·maxBids under fair, maxLines under the others
const (
	maxBids    = 8
	maxUsers   = 16
	maxOfNode  = 24 // further lines are of bands that the node has not yet: at most maxOfNode + maxBids
	maxLines   = 256
	otherNodes = 4
)

// others stands for the users, or the classes, that share what is left. No user and no class has that name.
const others = "\x00"

// bandsPerDoubling is how many bands there are from a bid to twice as much.
const bandsPerDoubling = 2

// Band returns the lowest bid that counts the same as b under fair. With d doublings above the usual bid it is
//
//	usual · 2^(⌊2d⌋/2)
//
// so 1 and 1.4 are the same, 1 and 1.5 are not, nor any two of 1, 2, 3, 4, 6 and 8.
func Band(b grid.Bid) grid.Bid {
	d := math.Log2(float64(b) / float64(grid.UsualBid))
	low := float64(grid.UsualBid) * math.Exp2(math.Floor(d*bandsPerDoubling)/bandsPerDoubling)
	return grid.Bid(math.Ceil(low))
}

// reduce returns the part of a key that the rule asks for.
func (o *Lines[T]) reduce(k Key) Key {
	k.Bid = o.cfg.Cap(k.Bid)
	switch {
	case o.rule.Fair:
		return Key{Bid: o.band(k.Bid), Node: k.Node, User: k.User}
	case o.rule.Bands:
		return Key{Bid: threeQueues(k.Bid)}
	case o.rule.Name == "bid":
		return Key{Bid: k.Bid}
	case o.rule.Name == "sjf":
		return Key{Class: k.Class}
	}
	return Key{}
}

// threeQueues is the queue of a bid under prio_fifo.
func threeQueues(b grid.Bid) grid.Bid {
	switch {
	case b > grid.UsualBid:
		return 3
	case b < grid.UsualBid:
		return 1
	}
	return 2
}

// band is Band; most bids are those of the last call.
func (o *Lines[T]) band(b grid.Bid) grid.Bid {
	if b == grid.UsualBid {
		return b
	}
	if b != o.banded {
		o.banded, o.toBand = b, Band(b)
	}
	return o.toBand
}

// bound returns the key of the line into which work of a reduced key goes, for which there is none.
func (o *Lines[T]) bound(k Key) Key {
	full := o.lines >= maxLines
	switch {
	case o.rule.Fair:
		return o.boundFair(k, full)
	case !full:
	case o.rule.Name == "sjf":
		k.Class = others
	case o.rule.Name == "bid":
		at, _ := o.levelAt(k)
		k.Bid = o.levels[min(at, len(o.levels)-1)].bid
	}
	return k
}

func (o *Lines[T]) boundFair(k Key, full bool) Key {
	a, shared := o.accounts.find(k.Node), false
	if shared = full && (a == nil || a.lines() == 0); shared {
		k.Node, k.User = grid.NodeID{k.Node[0] % otherNodes}, others
		a = o.accounts.find(k.Node)
	}
	if a == nil {
		return k
	}
	if a.pairOf(k.Bid) == nil {
		k.Bid = a.boundBid(k.Bid, full && !shared)
	}
	if a.userOf(k.User) == nil && len(a.users()) >= maxUsers {
		a.here.sweepUsers(o.usedLately)
	}
	if a.lines() >= maxOfNode || len(a.users()) >= maxUsers && a.userOf(k.User) == nil {
		k.User = others
	}
	if full && !shared && o.find(k) == nil {
		k.User = a.pairOf(k.Bid).lines[0].user
	}
	return k
}

// boundBid returns the band into which work of one goes that a node has not; full: one that it has.
func (a *account[T]) boundBid(bid grid.Bid, full bool) grid.Bid {
	n, lower, lowest := 0, grid.Bid(0), grid.MaxBid
	for p := a.pairs(); p != nil; p = p.next {
		b := p.level.bid
		if n++; b < bid {
			lower = max(lower, b)
		}
		lowest = min(lowest, b)
	}
	switch {
	case n < maxBids && !full:
		return bid
	case lower > 0:
		return lower
	}
	return lowest
}
