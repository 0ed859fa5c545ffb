package order

import (
	"time"

	"skep/balance/market"
	"skep/grid"
)

// Key says what work is, as far as an order asks. The zero value stands for work that comes after all that waits.
type Key struct {
	Bid   grid.Bid
	Node  grid.NodeID // that submitted it
	User  string      // of that node
	Class string
}

// Lines is the lines of one place. A line holds what its owner keeps in Of, first come, first served.
type Lines[T any] struct {
	rule Rule
	cfg  Config
	size func(class string) float64

	levels   []*level[T]      // the highest bid first
	open     []*Line[T]       // in which something waits, in no order
	index    map[Key]*Line[T] // nil while there are few
	lines    int
	idle     int // lines without work
	accounts accounts
	sweepAt  int // number of accounts at which those that are used up are dropped
	decay    decay
	overdue  *pair[T]   // of the last judge: the one that waited longest
	sorted   []*pair[T] // scratch
}

// level is the lines of one bid, under sjf of one class.
type level[T any] struct {
	bid   grid.Bid
	class string
	pairs []*pair[T]
	open  int // of its lines

	best *pair[T] // of the last judge, of those that are not overdue
	rank float64
}

// pair is the lines of a node with a bid.
type pair[T any] struct {
	level *level[T]
	node  grid.NodeID
	used  *account // nil = the rule does not count use
	lines []*Line[T]
	last  grid.Time // of the last start
	open  int       // of its lines

	score float64 // of the last judge
	wait  time.Duration
	taken bool // in a Walk
}

// Line is work that goes first come, first served.
type Line[T any] struct {
	Of T

	key   Key
	pair  *pair[T]
	used  *account
	first grid.Time // when what is first in it came
	last  grid.Time // of the last start
	place int       // in the open lines, from 1; 0 = nothing waits in it
	works int       // that were entered and not released
	gone  bool      // it was dropped without work
	taken bool      // in a Walk
}

// owner names an account: that of a node, or of a user of it.
type owner struct {
	node grid.NodeID
	user string
	all  bool // of the node
}

// long ago, before any work started.
const never = -grid.Time(1 << 61)

// Bounds of what is kept without work.
const (
	keepLines   = 3
	minSweep    = 8
	fewLines    = 32  // that are searched; more have an index
	leastScored = 1.0 // core-seconds below which an account is forgotten
)

// New returns lines without work. size is the expected run time of a class in seconds. The configuration is valid.
func New[T any](cfg Config, size func(class string) float64) *Lines[T] {
	r, ok := find(cfg.Rule)
	if !ok {
		panic("order: the rule is known")
	}
	return &Lines[T]{rule: r, cfg: cfg, size: size, sweepAt: minSweep, decay: decay{half: cfg.HalfLife}}
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
	k = o.reduce(k)
	l := o.find(k)
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

// reduce returns the part of a key that the rule asks for.
func (o *Lines[T]) reduce(k Key) Key {
	if o.cfg.MaxBid > 0 {
		k.Bid = min(k.Bid, o.cfg.MaxBid)
	}
	switch {
	case o.rule.Fair:
		return Key{Bid: k.Bid, Node: k.Node, User: k.User}
	case o.rule.Bands:
		return Key{Bid: band(k.Bid)}
	case o.rule.Name == "bid":
		return Key{Bid: k.Bid}
	case o.rule.Name == "sjf":
		return Key{Class: k.Class}
	}
	return Key{}
}

// band is the queue of a bid under prio_fifo.
func band(b grid.Bid) grid.Bid {
	switch {
	case b > grid.UsualBid:
		return 3
	case b < grid.UsualBid:
		return 1
	}
	return 2
}

// SetFirst says when what is first in a line came; waits = false: nothing waits in it.
func (o *Lines[T]) SetFirst(l *Line[T], came grid.Time, waits bool) {
	l.first = came
	switch {
	case waits && l.place == 0:
		o.open = append(o.open, l)
		l.place = len(o.open)
		l.pair.open++
		l.pair.level.open++
	case !waits && l.place > 0:
		last := o.open[len(o.open)-1]
		o.open[l.place-1], last.place = last, l.place
		o.open = o.open[:len(o.open)-1]
		l.place = 0
		l.pair.open--
		l.pair.level.open--
	}
}

// Start says that a work of a line starts, on so many cores and for an expected time in seconds.
func (o *Lines[T]) Start(now grid.Time, l *Line[T], cores, expected float64) {
	l.last, l.pair.last = now, now
	if o.rule.Fair {
		l.used.start(now, &o.decay, cores, expected)
		l.pair.used.start(now, &o.decay, cores, expected)
	}
}

// Charge says that a work of a line starts somewhere else, where it is expected to use so many core-seconds.
func (o *Lines[T]) Charge(now grid.Time, l *Line[T], used float64) {
	l.last, l.pair.last = now, now
	if o.rule.Fair {
		l.used.advance(now, &o.decay)
		l.pair.used.advance(now, &o.decay)
		l.used.used, l.pair.used.used = l.used.used+used, l.pair.used.used+used
	}
}

// End says that a work ends which started at a time; cores and expected are those of Start.
func (o *Lines[T]) End(now grid.Time, l *Line[T], cores, expected float64, started grid.Time) {
	if o.rule.Fair {
		l.used.end(now, &o.decay, cores, expected, started)
		l.pair.used.end(now, &o.decay, cores, expected, started)
	}
}

// CountsUse reports whether the rule counts what running work uses.
func (o *Lines[T]) CountsUse() bool { return o.rule.Fair }

// Used returns what a node has used of late and is expected to use with what runs, in core-seconds.
func (o *Lines[T]) Used(now grid.Time, node grid.NodeID) float64 {
	if a := o.accounts.find(owner{node: node, all: true}); a != nil {
		return a.score(now, &o.decay)
	}
	return 0
}
