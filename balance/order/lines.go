package order

import (
	"skep/balance/market"
	"skep/grid"
)

// Key says what work is, as far as an order asks. The zero value stands for work that comes after all that waits.
type Key struct {
	Bid   grid.Bid
	Node  grid.NodeID // that its use counts for
	User  string      // of that node
	Class string
}

// Lines is the lines of one place. A line holds what its owner keeps in Of, first come, first served.
type Lines[T any] struct {
	rule *Rule
	cfg  *Config
	size func(class string) float64

	levels   []*level[T] // the highest bid first
	open     []*Line[T]  // in which something waits, in no order
	lines    int32
	idle     int32 // lines without work
	accounts accounts[T]
	decay    decay

	judged

	banded, toBand grid.Bid // of the last call of band

	*scratch[T] // nil until Sorted has more than one line to sort
}

// level is the lines of one bid, under sjf of one class.
type level[T any] struct {
	bid   grid.Bid
	class string
	pairs []*pair[T]
	open  int // of its lines

	best  *pair[T] // in which something waits; nil = none
	stale bool     // best has to be found anew
	rank  float64  // of the last Best
}

// pair is the lines of a node with a bid.
type pair[T any] struct {
	level *level[T]
	of    *account[T] // nil = the rule does not count use
	next  *pair[T]    // of the account
	lines []*Line[T]
	last  grid.Time // of the last start
	since grid.Time // the last start, or when the first of what waits came; only while something does
	open  int       // of its lines
}

// Line is work that goes first come, first served.
type Line[T any] struct {
	Of T

	pair  *pair[T]
	user  string
	by    *user     // nil = the pair's account is its user's
	first grid.Time // when what is first in it came
	last  grid.Time // of the last start
	place int32     // in the open lines, from 1; 0 = nothing waits in it
	works int32     // that were entered and not released
	gone  bool      // it was dropped, without work
}

// long ago, before any work started.
const never = -grid.Time(1 << 61)

// keepLines is how many lines are kept without work when one is added.
const keepLines = 1

// New returns lines without work. size is the expected run time of a class in seconds. The configuration is valid, and
// is not changed.
func New[T any](cfg *Config, size func(class string) float64) *Lines[T] {
	r, ok := find(cfg.Rule)
	if !ok {
		panic("order: the rule is known")
	}
	return &Lines[T]{rule: r, cfg: cfg, size: size}
}

// Single reports whether there is one line at most in which something waits, and returns it; nil = none.
func (o *Lines[T]) Single() (l *Line[T], single bool) {
	switch len(o.open) {
	case 0:
		return nil, true
	case 1:
		return o.open[0], true
	}
	return nil, false
}

// Open lists the lines in which something waits, in no order; read only.
func (o *Lines[T]) Open() []*Line[T] { return o.open }

// Ranks reports whether there is more than one line under the rule.
func (o *Lines[T]) Ranks() bool { return o.rule.Order != market.ByArrival }

// Each calls f for all lines.
func (o *Lines[T]) Each(f func(*Line[T])) {
	for _, v := range o.levels {
		for _, p := range v.pairs {
			for _, l := range p.lines {
				f(l)
			}
		}
	}
}

// Enter returns the line of a work, which counts for it until Release.
func (o *Lines[T]) Enter(k Key) *Line[T] {
	l := o.find(o.reduce(k))
	if l == nil {
		l = o.add(k)
	}
	o.Again(l)
	return l
}

// Again is Enter for a line that Enter returned before, and reports whether it is still there.
func (o *Lines[T]) Again(l *Line[T]) bool {
	if l == nil || l.gone {
		return false
	}
	if l.works++; l.works == 1 {
		o.idle--
	}
	return true
}

// Release ends what Enter began.
func (o *Lines[T]) Release(l *Line[T]) {
	if l.works--; l.works == 0 {
		o.idle++
	}
}

// SetFirst says when what is first in a line came; waits = false: nothing waits in it.
func (o *Lines[T]) SetFirst(l *Line[T], came grid.Time, waits bool) {
	l.first = came
	switch {
	case waits && l.place == 0:
		o.open = append(o.open, l)
		l.place = int32(len(o.open))
		l.pair.open++
		l.pair.level.open++
	case !waits && l.place > 0:
		end := len(o.open) - 1
		last := o.open[end]
		o.open[l.place-1], last.place = last, l.place
		o.open[end], o.open = nil, o.open[:end]
		l.place = 0
		l.pair.open--
		l.pair.level.open--
	}
	o.wait(l.pair)
}

// Start says that a work of a line starts, on so many cores and for an expected time in seconds.
func (o *Lines[T]) Start(now grid.Time, l *Line[T], cores, expected float64) {
	o.turn(now, l, func(_ *use, r *running) { r.start(now, cores, expected) })
}

// Charge says that a work of a line starts somewhere else, where it is expected to use so many core-seconds.
func (o *Lines[T]) Charge(now grid.Time, l *Line[T], used float64) {
	o.turn(now, l, func(a *use, _ *running) { a.used += used })
}

// turn counts a start of a line.
func (o *Lines[T]) turn(now grid.Time, l *Line[T], change func(*use, *running)) {
	l.last, l.pair.last = now, now
	o.change(now, l, change)
	o.wait(l.pair)
}

// End says that a work ends which started at a time; cores and expected are those of Start.
func (o *Lines[T]) End(now grid.Time, l *Line[T], cores, expected float64, started grid.Time) {
	o.change(now, l, func(_ *use, r *running) { r.end(cores, expected, started) })
}

// change changes the use of a line's node and user.
func (o *Lines[T]) change(now grid.Time, l *Line[T], f func(*use, *running)) {
	a := l.pair.of
	if a == nil {
		return
	}
	o.latest = max(o.latest, now)
	h := a.here
	a.advance(now, &h.running, o.cfg.HalfLife, &o.decay)
	f(&a.use, &h.running)
	if u := l.by; u != nil {
		u.advance(now, &u.running, o.cfg.HalfLife, &o.decay)
		f(&u.use, &u.running)
	}
	h.score = a.use.score(&h.running)
	for p := h.pairs; p != nil; p = p.next {
		o.judge(p)
	}
}

// CountsUse reports whether the rule counts what running work uses.
func (o *Lines[T]) CountsUse() bool { return o.rule.Fair }

// Used returns what a node has used of late and is expected to use with what runs, in core-seconds.
func (o *Lines[T]) Used(now grid.Time, node grid.NodeID) float64 {
	if a := o.accounts.find(node); a != nil {
		return o.usedOf(now, &a.use, a.runs())
	}
	return 0
}

// usedLately is usedOf as of the last change.
func (o *Lines[T]) usedLately(a *use, r *running) float64 { return o.usedOf(o.latest, a, r) }

func (o *Lines[T]) usedOf(now grid.Time, a *use, r *running) float64 {
	a.advance(now, r, o.cfg.HalfLife, &o.decay)
	return a.score(r)
}
