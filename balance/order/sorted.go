package order

import (
	"cmp"
	"slices"

	"skep/balance/market"
	"skep/grid"
)

// scratch is the memory of Sorted.
type scratch[T any] struct {
	sorted []*pair[T]
	turns  []*Line[T]
}

// Sorted returns the lines in which something waits, in the order of their turns now; valid until the next call.
func (o *Lines[T]) Sorted(now grid.Time) []*Line[T] {
	if _, single := o.Single(); single {
		return o.open
	}
	o.refresh(now)
	if o.scratch == nil {
		o.scratch = new(scratch[T])
	}
	o.sorted, o.turns = o.sorted[:0], o.turns[:0]
	for _, v := range o.levels {
		if v.open == 0 {
			continue
		}
		v.rank = o.rank(now, v, v.bestOf())
		for _, p := range v.pairs {
			if p.open > 0 {
				o.sorted = append(o.sorted, p)
			}
		}
	}
	slices.SortStableFunc(o.sorted, func(a, b *pair[T]) int { return o.compare(now, a, b) })
	for _, p := range o.sorted {
		from := len(o.turns)
		for _, l := range p.lines {
			if l.place > 0 {
				o.turns = append(o.turns, l)
			}
		}
		if line := o.turns[from:]; len(line) > 1 {
			slices.SortStableFunc(line, func(a, b *Line[T]) int { return o.compareLines(now, a, b) })
		}
	}
	return o.turns
}

// compare orders pairs by their turns, once the levels have their ranks.
func (o *Lines[T]) compare(now grid.Time, a, b *pair[T]) int {
	lateA, lateB := o.isOverdue(now, a), o.isOverdue(now, b)
	switch {
	case lateA && lateB:
		return cmp.Compare(a.since, b.since)
	case lateA:
		return -1
	case lateB:
		return 1
	case a.level == b.level:
		return comparePairs(a, b)
	case o.rule.Order == market.BySize:
		return o.compareSizes(a.level, b.level)
	case o.rule.Fair:
		return cmp.Or(compareLevels(a.level, b.level), cmp.Compare(b.level.bid, a.level.bid))
	}
	return cmp.Compare(b.level.bid, a.level.bid)
}
