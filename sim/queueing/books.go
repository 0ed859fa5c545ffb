package queueing

import (
	"cmp"
	"math"
	"slices"

	"skep/balance"
)

// books are what is counted in one run, from the end of the warm-up on.
type books struct {
	inside  int     // tasks in the system
	area    float64 // integral of inside since the last mark
	low     int     // least of inside since the last mark
	arrived int64
	before  int64     // arrived in the warm-up
	count   []int64   // completed, by class
	time    []float64 // of them, from arrival to completion
	remote  int64     // messages, two for each other machine that is asked
	all     int64     // the same with the decider itself
	moved   int64     // tasks placed on another machine than the decider's
	guarded float64   // tasks for which a policy left its first choice out; NaN where none can
	flooded bool

	marks    []mark
	at       int
	expected float64 // integral of the configured arrival rate since the warm-up
	since    float64 // up to when it is counted
	measured part    // of the time after the warm-up
	whole    part    // of all of it
}

// mark is a time at which one quarter ends and the next begins: of what is measured, of the whole run, or of both.
type mark struct {
	time            float64
	measured, whole bool
}

// part is a stretch of time in four quarters.
type part struct {
	from, to float64
	began    int     // quarters, 0 before the first
	area     float64 // integral of inside in the quarter so far
	low      int     // least of inside in it
	quarter  [4]float64
	lows     [4]int
}

func (p *part) edge(k int) float64 {
	if k == 4 {
		return p.to
	}
	return p.from + (p.to-p.from)*float64(k)/4
}

// count adds what was since the last mark.
func (p *part) count(b *books) { p.area, p.low = p.area+b.area, min(p.low, b.low) }

// turn ends a quarter and begins the next.
func (p *part) turn(b *books) {
	if k := p.began; k > 0 {
		p.quarter[k-1], p.lows[k-1] = p.area/(p.edge(k)-p.edge(k-1)), p.low
	}
	p.began, p.area, p.low = p.began+1, 0, b.inside
}

// mean is that of inside.
func (p *part) mean() float64 {
	return (p.quarter[0] + p.quarter[1] + p.quarter[2] + p.quarter[3]) / 4
}

func (b *books) init(n int, o *Options) {
	b.count, b.time = make([]int64, n), make([]float64, n)
	b.measured, b.whole = part{from: o.Warmup, to: o.Time}, part{to: o.Time}
	for k := range 5 {
		b.marks = append(b.marks, mark{b.measured.edge(k), true, false}, mark{b.whole.edge(k), false, true})
	}
	slices.SortFunc(b.marks, func(x, y mark) int { return cmp.Compare(x.time, y.time) })
	last := 0
	for _, m := range b.marks[1:] {
		if l := &b.marks[last]; l.time == m.time {
			l.measured, l.whole = l.measured || m.measured, l.whole || m.whole
		} else {
			last++
			b.marks[last] = m
		}
	}
	b.marks = b.marks[:last+1]
}

func (b *books) next() float64 { return b.marks[b.at].time }

// complete counts a task that took w.
func (b *books) complete(class int32, w float64) {
	b.inside--
	b.low = min(b.low, b.inside)
	b.count[class]++
	b.time[class] += w
}

// expect counts the arrivals that the rate stands for until now.
func (b *books) expect(e *engine) {
	b.expected += (e.now - b.since) * e.rates.total
	b.since = e.now
}

// close ends a part of the run, and reports whether there is another.
func (b *books) close(e *engine) bool {
	b.expect(e)
	m := b.marks[b.at]
	b.measured.count(b)
	b.whole.count(b)
	if m.measured && b.measured.began == 0 { // all before does not count
		clear(b.count)
		clear(b.time)
		b.guarded = -e.push.guarded()
		b.before = b.arrived
		b.arrived, b.remote, b.all, b.moved, b.expected = 0, 0, 0, 0, 0
	}
	if m.measured {
		b.measured.turn(b)
	}
	if m.whole {
		b.whole.turn(b)
	}
	b.area, b.low = 0, b.inside
	if b.at++; b.at == len(b.marks) {
		b.guarded += e.push.guarded()
	}
	return b.at < len(b.marks)
}

// mean is the mean number of tasks in the system.
func (b *books) mean() float64 { return b.measured.mean() }

// fewest arrivals are needed to tell whether a system fills up: the first few always do.
const fewest = 100

// grows reports whether the system fills up: in the last quarter of the run it was never as empty as on average in
// the second, and held half as much again. A queue that grows evenly from the start holds 7/3 as much. The warm-up is
// a part of the run here: seen from its end alone, a queue that has grown for long hardly grows.
func (b *books) grows() bool {
	q := &b.whole
	return b.flooded || b.before+b.arrived >= fewest && float64(q.lows[3]) > q.quarter[1] &&
		q.quarter[3] > 1.5*q.quarter[1]
}

// completed is the number of tasks and their total time.
func (b *books) completed() (count int64, time float64) {
	for i := range b.count {
		count, time = count+b.count[i], time+b.time[i]
	}
	return count, time
}

// w is the mean completion time, NaN without tasks.
func (b *books) w() float64 {
	count, time := b.completed()
	if count == 0 {
		return math.NaN()
	}
	return time / float64(count)
}

// guarded counts the tasks for which the policies left their first choice out; NaN where they never do.
func (p *push) guarded() float64 {
	if p == nil {
		return math.NaN()
	}
	sum := 0.0
	for _, x := range p.policies {
		g, ok := x.(balance.Guard)
		if !ok {
			return math.NaN()
		}
		sum += float64(g.Guarded())
	}
	return sum
}
