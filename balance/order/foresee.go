package order

import (
	"math"

	"skep/grid"
)

// maxWalked is the number of lines up to which a Walk has them take turns.
const maxWalked = 64

// Walk calls f with lines in the order in which work is expected to start: once for each work. f takes the next one of
// that line, which it has not taken yet, and returns how many core-seconds it is expected to use, and whether there was
// one; without one the line is done. Walk ends when all are, or when f returns end. Where more than maxWalked lines are
// open the turns of each come together.
func (o *Lines[T]) Walk(now grid.Time, f func(l *Line[T]) (used float64, found, end bool)) {
	lines := o.Sorted(now, nil)
	if len(lines) > maxWalked || !o.rule.Fair {
		for _, l := range lines {
			for found, end := true, false; found; {
				if _, found, end = f(l); end {
					return
				}
			}
		}
		return
	}
	first := make([]grid.Time, len(lines))
	for i, l := range lines {
		first[i] = l.first
	}
	for len(o.open) > 0 {
		l := o.Best(now)
		used, found, end := f(l)
		if end {
			break
		}
		if !found {
			o.SetFirst(l, l.first, false)
			continue
		}
		l.used.foreseen += used
		l.pair.used.foreseen += used
		l.taken, l.pair.taken = true, true
	}
	for i, l := range lines {
		l.used.foreseen, l.pair.used.foreseen, l.taken, l.pair.taken = 0, 0, false, false
		o.SetFirst(l, first[i], true)
	}
}

// Work returns how many works wait in a line, and the core-seconds that all are expected to use.
type Work[T any] func(*Line[T]) (n int, all float64)

// Ahead calls f for the lines of which work is expected to start before a work of a key that would come now, with the
// share of the line's work, more than 0 to 1, which is ahead. work is how many works are in a line, and the expected
// core-seconds of all. Under fair a node with as much use as another one takes turns with it: what is ahead of an equal
// bid is all of one's own, and of another node that has not used more so many of its works, if it has as many:
//
//	⌊(own work + own use − its use) / its mean work⌋ + 1
//
// Whatever comes later is not counted, nor that bids age.
func (o *Lines[T]) Ahead(now grid.Time, k Key, work Work[T], f func(l *Line[T], share float64)) {
	all := k == Key{}
	k = o.reduce(k)
	own := 0.0
	if o.rule.Fair && !all {
		own = o.Used(now, k.Node)
		for _, v := range o.levels {
			for _, p := range v.pairs {
				if v.bid == k.Bid && p.node == k.Node {
					_, all := sum(p, work)
					own += all
				}
			}
		}
	}
	for _, v := range o.levels {
		for _, p := range v.pairs {
			share := 1.0
			if !all {
				if share = o.aheadOf(now, k, v, p, own, work); share <= 0 {
					continue
				}
			}
			for _, l := range p.lines {
				f(l, share)
			}
		}
	}
}

func sum[T any](p *pair[T], work Work[T]) (n int, all float64) {
	for _, l := range p.lines {
		k, used := work(l)
		n, all = n+k, all+used
	}
	return n, all
}

// aheadOf is the share of a pair's work that is ahead of a work of a key.
func (o *Lines[T]) aheadOf(now grid.Time, k Key, v *level[T], p *pair[T], own float64, work Work[T]) float64 {
	ahead := true
	switch {
	case o.rule.Name == "sjf":
		ahead = o.size(v.class) <= o.size(k.Class)
	case !o.rule.Fair:
		ahead = v.bid >= k.Bid
	case v.bid == k.Bid && p.node != k.Node:
		o.judgePair(now, p)
		if n, theirs := sum(p, work); theirs > 0 && !(p.open > 0 && o.isOverdue(p)) {
			ahead = p.score <= own
			if turns := math.Floor((own-p.score)/theirs*float64(n)) + 1; ahead && turns < float64(n) {
				return turns / float64(n)
			}
		}
	case v.bid != k.Bid:
		o.judgePair(now, p)
		ahead = p.open > 0 && (o.isOverdue(p) || o.rank(v, p) > float64(k.Bid)) || p.open == 0 && v.bid > k.Bid
	}
	if ahead {
		return 1
	}
	return 0
}
