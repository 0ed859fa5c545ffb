package order

import (
	"cmp"
	"slices"
	"time"

	"skep/balance/market"
	"skep/grid"
)

// Best returns the line whose first goes next; nil = nothing waits.
func (o *Lines[T]) Best(now grid.Time) *Line[T] {
	if l, single := o.Single(); single {
		return l
	}
	o.judge(now)
	p := o.overdue
	if p == nil {
		var top *level[T]
		for _, v := range o.levels {
			if v.best != nil && (top == nil || compareLevels(v, top) < 0) {
				top = v
			}
		}
		p = top.best
	}
	return o.first(now, p)
}

// judge sets the level's ranks and best pairs, and the pair that is overdue longest; nil = none is.
func (o *Lines[T]) judge(now grid.Time) {
	o.overdue = nil
	for _, v := range o.levels {
		if v.best = nil; v.open == 0 {
			continue
		}
		for _, p := range v.pairs {
			if p.open == 0 {
				continue
			}
			o.judgePair(now, p)
			if o.isOverdue(p) {
				if o.overdue == nil || p.wait > o.overdue.wait {
					o.overdue = p
				}
			} else if v.best == nil || comparePairs(p, v.best) < 0 {
				v.best = p
			}
		}
		if v.best != nil {
			v.rank = o.rank(v, v.best)
		}
	}
}

func (o *Lines[T]) judgePair(now grid.Time, p *pair[T]) {
	came := p.lines[0].first
	if len(p.lines) > 1 {
		came = grid.Never
		for _, l := range p.lines {
			if l.place > 0 {
				came = min(came, l.first)
			}
		}
	}
	p.wait, p.score = now.Sub(max(came, p.last)), 0
	if p.used != nil {
		p.score = p.used.score(now, &o.decay)
	}
}

// isOverdue reports whether a pair has waited for the ageing time.
func (o *Lines[T]) isOverdue(p *pair[T]) bool {
	return o.rule.Fair && p.wait >= o.cfg.Ageing && !p.taken
}

// rank is what a level bids with a pair, or how short its work is: the highest goes first.
func (o *Lines[T]) rank(v *level[T], p *pair[T]) float64 {
	switch o.rule.Order {
	case market.BySize:
		return -o.size(v.class)
	case market.ByArrival:
		return 0
	}
	if !o.rule.Fair || p.taken || p.wait < time.Second {
		return float64(v.bid)
	}
	return market.Ageing{Min: float64(v.bid), Max: float64(o.cfg.MaxBid), Time: o.cfg.Ageing.Seconds()}.
		Bid(max(p.wait, 0).Seconds())
}

// compareLevels orders levels whose pairs are not overdue.
func compareLevels[T any](a, b *level[T]) int {
	return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.best.wait, a.best.wait))
}

// comparePairs orders pairs of a level that are not overdue.
func comparePairs[T any](a, b *pair[T]) int {
	return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(b.wait, a.wait))
}

// first returns the line of a pair that goes first.
func (o *Lines[T]) first(now grid.Time, p *pair[T]) (best *Line[T]) {
	if len(p.lines) == 1 {
		return p.lines[0]
	}
	for _, l := range p.lines {
		if l.place > 0 && (best == nil || o.compareLines(now, l, best) < 0) {
			best = l
		}
	}
	return best
}

func (o *Lines[T]) compareLines(now grid.Time, a, b *Line[T]) int {
	waitA, waitB := now.Sub(max(a.first, a.last)), now.Sub(max(b.first, b.last))
	lateA, lateB := waitA >= o.cfg.Ageing && !a.taken, waitB >= o.cfg.Ageing && !b.taken
	switch {
	case lateA != lateB && lateA:
		return -1
	case lateA != lateB:
		return 1
	case lateA, !o.rule.Fair:
		return cmp.Compare(waitB, waitA)
	}
	return cmp.Or(cmp.Compare(a.used.score(now, &o.decay), b.used.score(now, &o.decay)),
		cmp.Compare(waitB, waitA))
}

// Sorted appends the lines in which something waits to dst, in the order of their turns now.
func (o *Lines[T]) Sorted(now grid.Time, dst []*Line[T]) []*Line[T] {
	if l, single := o.Single(); single {
		if l != nil {
			dst = append(dst, l)
		}
		return dst
	}
	o.judge(now)
	o.sorted = o.sorted[:0]
	for _, v := range o.levels {
		for _, p := range v.pairs {
			if p.open > 0 {
				o.sorted = append(o.sorted, p)
			}
		}
	}
	slices.SortStableFunc(o.sorted, func(a, b *pair[T]) int {
		lateA, lateB := o.isOverdue(a), o.isOverdue(b)
		switch {
		case lateA && lateB:
			return cmp.Compare(b.wait, a.wait)
		case lateA:
			return -1
		case lateB:
			return 1
		case a.level != b.level:
			return cmp.Or(compareLevels(a.level, b.level), cmp.Compare(b.level.bid, a.level.bid),
				cmp.Compare(a.level.class, b.level.class))
		}
		return comparePairs(a, b)
	})
	for _, p := range o.sorted {
		from := len(dst)
		for _, l := range p.lines {
			if l.place > 0 {
				dst = append(dst, l)
			}
		}
		slices.SortStableFunc(dst[from:], func(a, b *Line[T]) int { return o.compareLines(now, a, b) })
	}
	return dst
}
