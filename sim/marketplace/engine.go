package marketplace

import (
	"fmt"
	"math"
	"sync/atomic"

	"skep/balance/market"
	"skep/grid"
	"skep/heap"
)

// engine is one run of a system under a protocol.
type engine struct {
	sys      *System
	p        market.Protocol
	now      float64
	end      float64
	agenda   heap.Heap[float64, planned, bySeq]
	arrival  uint64  // the planned arrival's seq: at most one is, at source.next, and it is not in the agenda
	atOnce   []event // messages that take no time
	seq      uint64
	stop     *atomic.Bool
	source   source
	servers  []server
	matchers []*matcher   // of the owners; one for all where there are none
	loads    []*grid.Rand // of background arrivals, by server
	delays   *grid.Rand
	places   *grid.Rand // at which owner a task arrives
	tasks    store
	letters  []news // on their way
	spare    []int32
	books    books
}

// The streams of a replication's randomness; servers have those from streamLoads on.
const (
	streamGaps = iota
	streamSizes
	streamWeights
	streamValues
	streamDelays
	streamLoads
	streamPlaces = 1 << 30
)

func newEngine(s *System, p market.Protocol, o *Options, replication int, stop *atomic.Bool) *engine {
	stream := func(k int) *grid.Rand { return grid.NewRand(o.Seed, uint64(replication)<<32|uint64(k)) }
	e := &engine{sys: s, p: p, stop: stop, end: o.Warmup + o.Measured + o.Tail, delays: stream(streamDelays),
		places: stream(streamPlaces), source: newSource(s, o.Warmup, o.Measured, stream)}
	e.servers = make([]server, s.Servers.Count)
	for j := range e.servers {
		e.servers[j] = server{index: int32(j), speed: s.Servers.speed(j), units: s.Servers.Units,
			discipline: discipline{p.Serving, p.Order}, arrived: make([]uint32, max(s.Owners, 1)),
			takes: s.Background.Units, dropsLate: s.Readings.DropLate && p.Migrates, whole: s.Readings.WholeCapacity}
		e.loads = append(e.loads, stream(streamLoads+j))
		if s.Background.Share > 0 {
			e.nextBackground(int32(j))
		}
		if p.Reserve {
			e.at(s.Reprice, event{kind: reprice, server: int32(j)})
		}
	}
	for range max(s.Owners, 1) {
		e.matchers = append(e.matchers, newMatcher(p, e.servers, s))
	}
	e.nextArrival()
	if interval := e.interval(); interval > 0 {
		for k := range e.matchers {
			e.at(interval, event{kind: tick, to: int32(k)})
		}
	}
	return e
}

// interval is the time between ticks; 0 = there are none.
func (e *engine) interval() float64 {
	switch {
	case e.p.Interval > 0:
		return e.p.Interval
	case e.sys.Ageing != nil:
		return e.sys.Ageing.Interval
	}
	return 0
}

// send sends a message; size is that of the task whose data it carries, else 0.
func (e *engine) send(ev event, size float64) {
	e.books.messages++
	mean := e.sys.Delay + e.sys.PerSize*size
	if mean == 0 {
		e.atOnce = append(e.atOnce, ev)
		return
	}
	// Lognormal, with half the mean as its standard deviation [1, section 6.2.5].
	const sigma = 0.47238072707743883 // √ln(1 + 0.5²)
	e.at(e.now+math.Exp(math.Log(mean)-sigma*sigma/2+sigma*e.delays.NormFloat64()), ev)
}

// run goes on to the end of the run, and reports whether it came to it.
func (e *engine) run() bool {
	for n := 0; ; n++ {
		for i := 0; i < len(e.atOnce); i++ {
			e.handle(e.atOnce[i])
		}
		e.atOnce = e.atOnce[:0]
		at, ev := e.next()
		if at >= e.end {
			break
		}
		if n&(1<<12-1) == 0 && e.stop.Load() {
			return false
		}
		e.now = at
		e.handle(ev)
	}
	e.now = e.end
	for j := range e.servers {
		e.servers[j].advance(e.end)
	}
	e.audit()
	return true
}

// audit panics if work was lost or invented.
func (e *engine) audit() {
	executed, want := 0.0, e.books.finished+e.tasks.progress()
	for j := range e.servers {
		executed += e.servers[j].executed
	}
	if math.Abs(executed-want) > 1e-6*max(executed, 1) {
		panic(fmt.Sprintf("marketplace: %s: servers did %g units of work, tasks had %g", e.p.Name, executed, want))
	}
}

func (e *engine) handle(ev event) {
	switch ev.kind {
	case arrival:
		for range e.sys.Tasks.Burst {
			t := e.tasks.add()
			e.source.make(t, e.now)
			e.books.came(t)
			if e.sys.Owners > 0 {
				t.owner = int32(e.places.IntN(e.sys.Owners))
				e.query(t)
				continue
			}
			e.send(event{kind: toMatcher, task: t.id()}, 0)
		}
		e.nextArrival()
	case background:
		e.backgroundArrives(ev.server)
	case free:
		e.backgroundEnds(ev.server)
	case completion:
		if s := &e.servers[ev.server]; ev.version == s.version {
			e.completes(s, e.tasks.get(ev.task))
		}
	case reprice:
		e.reprices(&e.servers[ev.server])
	case tick, told:
		e.match(ev, nil)
	default:
		if t := e.tasks.get(ev.task); t != nil {
			e.message(ev, t)
		}
	}
}

// message delivers a message about a task.
func (e *engine) message(ev event, t *task) {
	switch ev.kind {
	case data:
		e.receives(&e.servers[ev.server], t)
	case migrate:
		e.migrates(&e.servers[ev.server], t, ev.to, ev.runs)
	case matched:
		e.send(event{kind: data, server: ev.server, task: ev.task}, t.query.Size)
	case result:
		e.pays(&e.servers[ev.server], t)
		e.books.returned(e.now, t, e.sys.reference())
		e.tasks.returned(ev.task)
	default:
		e.match(ev, t)
	}
}
