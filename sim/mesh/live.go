package mesh

import (
	"math"
	"slices"
)

// Routes returns the resources that messages from one host to another share, and draws the latency of one in seconds.
type Routes func(from, to int) (path []int, latency float64)

// Live is programs that begin, run side by side and are stopped while the speeds of their hosts change. Its owner tells
// it what happens when it happens; time never goes back.
type Live struct {
	engine
	speed    []float64 // by host: cycles a second that a rank there gets
	routes   Routes
	programs []*program // that run
	done     []Done
}

// program is one of Live.
type program struct {
	name        uint64
	first, last int // ranks, the last one excluded
	running     int
}

// Done is the end of a program after its last iteration.
type Done struct {
	Name      uint64
	At        float64 // seconds
	Iteration float64 // largest mean time of an iteration of any rank, after the warm-up, seconds
}

// NewLive is hosts of so many cycles a second for each rank, and what messages share, bytes a second each.
func NewLive(speed, capacity []float64, routes Routes) *Live {
	l := &Live{speed: slices.Clone(speed), routes: routes}
	net := &Network{}
	for _, c := range capacity {
		net.Capacity = append(net.Capacity, Constant(c))
	}
	l.engine = engine{machine: l, flows: newFlows(net, 0)}
	return l
}

// until implements machine.
func (l *Live) until(x *rank, now, work float64) float64 {
	x.left, x.since = work, now
	return now + work/l.speed[x.host]
}

// route implements machine.
func (l *Live) route(from, to int) (path []int, latency float64) {
	if from == to {
		return nil, 0
	}
	return l.routes(from, to)
}

// Next is when something happens by itself, seconds; +Inf = never.
func (l *Live) Next() float64 { return l.next() }

// Advance goes on to a time, and returns the programs that have ended since it was last asked.
func (l *Live) Advance(now float64) []Done {
	l.done = l.done[:0]
	for at := l.next(); at <= now; at = l.next() {
		l.step(at)
		for _, k := range l.over {
			l.finished(k)
		}
	}
	l.flows.advance(now)
	return l.done
}

// finished counts a rank that has had its last iteration.
func (l *Live) finished(rank int) {
	at := slices.IndexFunc(l.programs, func(p *program) bool { return p.first <= rank && rank < p.last })
	p := l.programs[at]
	if p.running--; p.running > 0 {
		return
	}
	d := Done{Name: p.name, At: l.flows.at}
	for k := p.first; k < p.last; k++ {
		d.Iteration = max(d.Iteration, l.ranks[k].mean)
		l.forget(k)
	}
	l.programs = slices.Delete(l.programs, at, at+1)
	l.done = append(l.done, d)
}

// Start begins a program with so many rows at each of some hosts at the time of the last Advance.
func (l *Live) Start(name uint64, p Program, hosts, rows []int, iterations int) {
	warmup := 0
	if iterations > Warmup {
		warmup = Warmup
	}
	first := l.add(p, hosts, rows, warmup, iterations)
	l.programs = append(l.programs, &program{name, first, len(l.ranks), len(hosts)})
}

// Stop ends a program at the time of the last Advance: nothing of it is under way any more. One that does not run is
// left alone.
func (l *Live) Stop(name uint64) {
	at := slices.IndexFunc(l.programs, func(p *program) bool { return p.name == name })
	if at < 0 {
		return
	}
	p := l.programs[at]
	l.flows.drop(func(f *flow) bool { return p.first <= f.to && f.to < p.last })
	for k := p.first; k < p.last; k++ {
		l.ranks[k].iteration, l.ranks[k].busy = l.ranks[k].last, math.Inf(1)
		l.forget(k)
	}
	l.active = slices.DeleteFunc(l.active, func(k int) bool { return p.first <= k && k < p.last })
	l.programs = slices.Delete(l.programs, at, at+1)
	l.flows.share()
}

// forget frees what a rank has that is over. Messages that still arrive at it, of ranks that were ahead, count for
// nothing.
func (l *Live) forget(rank int) { l.ranks[rank].ops, l.ranks[rank].waiting = nil, nil }

// SetSpeed changes how many cycles a second each rank at a host gets from the time of the last Advance on.
func (l *Live) SetSpeed(host int, speed float64) {
	if speed == l.speed[host] {
		return
	}
	now := l.flows.at
	for _, k := range l.active {
		if x := &l.ranks[k]; x.host == host && !math.IsInf(x.busy, 1) {
			x.left, x.since = max(0, x.left-(now-x.since)*l.speed[host]), now
			x.busy = now + x.left/speed
		}
	}
	l.speed[host] = speed
}
