package queueing

import (
	"math"

	"skep/balance"
)

// books are what is counted in one run, from the end of the warm-up on.
type books struct {
	inside  int     // tasks in the system
	area    float64 // integral of inside since the last mark
	low     int     // least of inside since the last mark
	arrived int64
	count   []int64   // completed, by class
	time    []float64 // of them, from arrival to completion
	remote  int64     // messages, two for each other machine that is asked
	all     int64     // the same with the decider itself
	moved   int64     // tasks placed on another machine than the decider's
	guarded float64   // tasks for which a policy left its first choice out; NaN where none can
	flooded bool

	marks    []float64 // the warm-up's end and four quarters
	at       int
	expected float64    // integral of the configured arrival rate since the warm-up
	since    float64    // up to when it is counted
	quarter  [4]float64 // mean of inside
	lows     [4]int
}

func (b *books) init(n int, o *Options) {
	b.count, b.time = make([]int64, n), make([]float64, n)
	for k := range 5 {
		b.marks = append(b.marks, o.Warmup+(o.Time-o.Warmup)*float64(k)/4)
	}
	b.marks[4] = o.Time
}

func (b *books) next() float64 { return b.marks[b.at] }

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
	if b.at == 0 { // all before does not count
		clear(b.count)
		clear(b.time)
		b.guarded = -e.push.guarded()
		b.arrived, b.remote, b.all, b.moved, b.expected = 0, 0, 0, 0, 0
	} else {
		b.quarter[b.at-1] = b.area / (b.marks[b.at] - b.marks[b.at-1])
		b.lows[b.at-1] = b.low
	}
	b.area, b.low = 0, b.inside
	if b.at++; b.at == len(b.marks) {
		b.guarded += e.push.guarded()
	}
	return b.at < len(b.marks)
}

// mean is the mean number of tasks in the system.
func (b *books) mean() float64 {
	return (b.quarter[0] + b.quarter[1] + b.quarter[2] + b.quarter[3]) / 4
}

// grows reports whether the system fills up: in the last quarter it was never as empty as on average in
// the second, and held half as much again. A queue that grows evenly from the start holds 7/3 as much.
func (b *books) grows() bool {
	return b.flooded || float64(b.lows[3]) > b.quarter[1] && b.quarter[3] > 1.5*b.quarter[1]
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
