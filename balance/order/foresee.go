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
	if len(o.open) > maxWalked || !o.rule.Fair {
		for _, l := range o.Sorted(now) {
			for found, end := true, false; found; {
				if _, found, end = f(l); end {
					return
				}
			}
		}
		return
	}
	was := o.remember()
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
		o.Charge(now, l, used)
	}
	o.restore(was)
}

// remembered is what a Walk changes of a line.
type remembered[T any] struct {
	line            *Line[T]
	first, last     grid.Time // of the line
	lastOf          grid.Time // of the pair
	ofUser, ofOwner use
}

// remember returns what a Walk may change.
func (o *Lines[T]) remember() []remembered[T] {
	all := make([]remembered[T], len(o.open))
	for i, l := range o.open {
		r := remembered[T]{line: l, first: l.first, last: l.last, lastOf: l.pair.last, ofOwner: l.pair.of.use}
		if l.by != nil {
			r.ofUser = l.by.use
		}
		all[i] = r
	}
	return all
}

func (o *Lines[T]) restore(all []remembered[T]) {
	for i := range all {
		r := &all[i]
		l := r.line
		l.last, l.pair.last, l.pair.of.use = r.last, r.lastOf, r.ofOwner
		if l.by != nil {
			l.by.use = r.ofUser
		}
		o.SetFirst(l, r.first, true)
	}
	o.until = o.asOf
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
	if k = o.reduce(k); !all && o.pairOf(k) == nil {
		k = o.bound(k)
	}
	mine, own := o.pairOf(k), 0.0
	if o.rule.Fair && !all {
		own = o.Used(now, k.Node)
		if mine != nil {
			_, queued := sum(mine, work)
			own += queued
		}
	}
	for _, v := range o.levels {
		for _, p := range v.pairs {
			share := 1.0
			if !all && p != mine {
				if share = o.aheadOf(now, k, p, own, work); share <= 0 {
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

// aheadOf is the share of a pair's work that is ahead of a work of a key which is not of that pair.
func (o *Lines[T]) aheadOf(now grid.Time, k Key, p *pair[T], own float64, work Work[T]) float64 {
	v, ahead := p.level, false
	switch {
	case o.rule.Name == "sjf":
		ahead = o.sizeOf(v.class) <= o.sizeOf(k.Class)
	case !o.rule.Fair:
		ahead = v.bid >= k.Bid
	case p.open > 0 && o.isOverdue(now, p):
		ahead = true
	case v.bid != k.Bid:
		ahead = p.open > 0 && o.rank(now, v, p) > float64(k.Bid) || p.open == 0 && v.bid > k.Bid
	default:
		used := o.usedOf(now, &p.of.use, p.of.runs())
		n, theirs := sum(p, work)
		ahead = used <= own
		if turns := math.Floor((own-used)/theirs*float64(n)) + 1; theirs > 0 && ahead && turns < float64(n) {
			return turns / float64(n)
		}
	}
	if ahead {
		return 1
	}
	return 0
}
