package marketplace

import (
	"fmt"
	"math"
	"sync/atomic"

	"skep/balance/market"
	"skep/fifo"
	"skep/grid"
	"skep/heap"
)

// kind is what happens in an event.
type kind uint8

const (
	arrival    kind = iota // a burst of tasks
	background             // a background task arrives at a server
	free                   // a background task ends
	completion
	tick
	reprice

	toMatcher // messages: a query
	requery   // of a task that was suspended
	slower    // of a task that runs more slowly
	cancel    // the query of a task that goes on
	told      // news of a server
	missed    // a task did not move to a server
	matched   // to the client
	data      // of a task, to a server
	migrate   // to the server that has the task
	result    // to the client
	refused   // to the owner of a task for which a server has no room
)

// event is something that happens at a time.
type event struct {
	seq     uint64 // of equal times the earlier made is first
	kind    kind
	server  int32
	to      int32 // server, or for told and tick the matcher
	version uint32
	task    uint32 // its ID; 0 = none
	news    int32  // index in engine.letters
	runs    bool   // migrate: the task runs where it is
}

// bySeq orders events of the same time.
type bySeq struct{}

// Before implements [heap.Order].
func (bySeq) Before(a, b event) bool { return a.seq < b.seq }

// engine is one run of a system under a protocol.
type engine struct {
	sys      *System
	p        market.Protocol
	now      float64
	end      float64
	agenda   heap.Heap[float64, event, bySeq]
	atOnce   fifo.Queue[event] // messages that take no time
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
		places: stream(streamPlaces),
		source: source{sys: s, from: o.Warmup, most: int(math.Round(s.Rate() * o.Measured)), gaps: stream(streamGaps),
			sizes: stream(streamSizes), weights: stream(streamWeights), values: stream(streamValues)}}
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
	e.source.advance()
	e.at(e.source.next, event{kind: arrival})
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

func (e *engine) at(t float64, ev event) {
	e.seq++
	ev.seq = e.seq
	e.agenda.Push(t, ev)
}

// send sends a message; size is that of the task whose data it carries, else 0.
func (e *engine) send(ev event, size float64) {
	e.books.messages++
	mean := e.sys.Delay + e.sys.PerSize*size
	if mean == 0 {
		e.atOnce.Add(ev)
		return
	}
	// Lognormal, with half the mean as its standard deviation [1, section 6.2.5].
	const sigma = 0.47238072707743883 // √ln(1 + 0.5²)
	e.at(e.now+math.Exp(math.Log(mean)-sigma*sigma/2+sigma*e.delays.NormFloat64()), ev)
}

// run goes on to the end of the run, and reports whether it came to it.
func (e *engine) run() bool {
	for n := 0; ; n++ {
		for ev, more := e.atOnce.Take(); more; ev, more = e.atOnce.Take() {
			e.handle(ev)
		}
		if e.agenda.Len() == 0 {
			return true
		}
		at, ev := e.agenda.Pop()
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
			t := e.tasks.add(e.source.make(e.now))
			e.books.came(t)
			if e.sys.Owners > 0 {
				t.owner = int32(e.places.IntN(e.sys.Owners))
				e.query(t)
				continue
			}
			e.send(event{kind: toMatcher, task: t.id()}, 0)
		}
		e.source.advance()
		e.at(e.source.next, event{kind: arrival})
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
