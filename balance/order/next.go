package order

import (
	"cmp"
	"math"
	"time"

	"skep/balance/market"
	"skep/grid"
)

// judged is what is kept of the scores of the nodes, so that a start looks at the lines of few.
type judged struct {
	latest  grid.Time // of the last change
	asOf    grid.Time // of the scores of the nodes that have not changed since
	until   grid.Time // they are near enough until then
	overdue grid.Time // nothing is overdue before it
}

// refreshes is how often scores are computed anew in a half-life: until then they are off by 0.3 % of what is used, and
// by what runs beyond what was expected.
const refreshes = 256

// refresh computes the scores anew if they are too old.
func (o *Lines[T]) refresh(now grid.Time) {
	if now < o.until && now >= o.asOf {
		return
	}
	for _, a := range o.accounts.list {
		if h := a.here; h != nil {
			h.score = o.usedOf(now, &a.use, &h.running)
		}
	}
	for _, v := range o.levels {
		v.best, v.stale = nil, true
	}
	o.asOf, o.until = now, now.Add(o.cfg.HalfLife/refreshes)
}

// wait brings a pair up to date of which a line has started, or got another first.
func (o *Lines[T]) wait(p *pair[T]) {
	if p.open > 0 {
		came := p.lines[0].first
		if len(p.lines) > 1 {
			came = grid.Never
			for _, l := range p.lines {
				if l.place > 0 {
					came = min(came, l.first)
				}
			}
		}
		p.since = max(came, p.last)
		if o.rule.Fair {
			o.overdue = min(o.overdue, p.since.Add(o.cfg.Ageing))
		}
	}
	o.judge(p)
}

// judge finds out whether a pair that has changed is the best of its level.
func (o *Lines[T]) judge(p *pair[T]) {
	switch v := p.level; {
	case v.stale:
	case v.best == p:
		v.stale = true
	case p.open > 0 && (v.best == nil || comparePairs(p, v.best) < 0):
		v.best = p
	}
}

// bestOf returns the best pair of a level in which something waits.
func (v *level[T]) bestOf() *pair[T] {
	if v.stale {
		v.best, v.stale = nil, false
		for _, p := range v.pairs {
			if p.open > 0 && (v.best == nil || comparePairs(p, v.best) < 0) {
				v.best = p
			}
		}
	}
	return v.best
}

// comparePairs orders pairs of a level.
func comparePairs[T any](a, b *pair[T]) int {
	if a.of != nil && a.of.here.score != b.of.here.score {
		return cmp.Compare(a.of.here.score, b.of.here.score)
	}
	return cmp.Compare(a.since, b.since)
}

// Best returns the line whose first goes next; nil = nothing waits.
func (o *Lines[T]) Best(now grid.Time) *Line[T] {
	if l, single := o.Single(); single {
		return l
	}
	if !o.rule.Fair {
		v := o.levels[0]
		for _, u := range o.levels[1:] {
			if u.open > 0 && (v.open == 0 || o.rule.Order == market.BySize && o.compareSizes(u, v) < 0) {
				v = u
			}
		}
		return o.first(now, v.pairs[0])
	}
	o.refresh(now)
	if p := o.longestOverdue(now); p != nil {
		return o.first(now, p)
	}
	var top *level[T]
	for _, v := range o.levels {
		if v.open == 0 {
			continue
		}
		if v.rank = o.rank(now, v, v.bestOf()); top == nil || compareLevels(v, top) < 0 {
			top = v
		}
	}
	return o.first(now, top.best)
}

// longestOverdue returns the pair that is overdue longest; nil = none is.
func (o *Lines[T]) longestOverdue(now grid.Time) (longest *pair[T]) {
	if now < o.overdue {
		return nil
	}
	o.overdue = grid.Never
	for _, v := range o.levels {
		for _, p := range v.pairs {
			if p.open == 0 {
				continue
			}
			if o.overdue = min(o.overdue, p.since.Add(o.cfg.Ageing)); longest == nil || p.since < longest.since {
				longest = p
			}
		}
	}
	if longest != nil && !o.isOverdue(now, longest) {
		return nil
	}
	return longest
}

// isOverdue reports whether a pair in which something waits has waited for the ageing time.
func (o *Lines[T]) isOverdue(now grid.Time, p *pair[T]) bool {
	return o.rule.Fair && now.Sub(p.since) >= o.cfg.Ageing
}

// rank is what a level bids with a pair, under fair: the highest goes first.
func (o *Lines[T]) rank(now grid.Time, v *level[T], p *pair[T]) float64 {
	wait := now.Sub(p.since)
	if wait < time.Second {
		return float64(v.bid)
	}
	return market.Ageing{Min: float64(v.bid), Max: float64(o.cfg.MaxBid), Time: o.cfg.Ageing.Seconds()}.
		Bid(wait.Seconds())
}

// compareLevels orders levels under fair.
func compareLevels[T any](a, b *level[T]) int {
	return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.best.since, b.best.since))
}

// compareSizes orders levels under sjf.
func (o *Lines[T]) compareSizes(a, b *level[T]) int {
	return cmp.Or(cmp.Compare(o.sizeOf(a.class), o.sizeOf(b.class)), cmp.Compare(a.pairs[0].since, b.pairs[0].since))
}

// sizeOf is the expected run time of a class; that of further classes than there are lines is the longest.
func (o *Lines[T]) sizeOf(class string) float64 {
	if class == others {
		return math.Inf(1)
	}
	return o.size(class)
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
	sinceA, sinceB := max(a.first, a.last), max(b.first, b.last)
	lateA, lateB := now.Sub(sinceA) >= o.cfg.Ageing, now.Sub(sinceB) >= o.cfg.Ageing
	switch {
	case lateA != lateB && lateA:
		return -1
	case lateA != lateB:
		return 1
	case lateA, a.by == b.by:
		return cmp.Compare(sinceA, sinceB)
	}
	return cmp.Or(cmp.Compare(o.usedBy(now, a), o.usedBy(now, b)), cmp.Compare(sinceA, sinceB))
}

// usedBy is the use of a line's user.
func (o *Lines[T]) usedBy(now grid.Time, l *Line[T]) float64 {
	if l.by == nil {
		return 0
	}
	return o.usedOf(now, &l.by.use, &l.by.running)
}
