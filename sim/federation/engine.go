package federation

import (
	"math"

	"skep/balance/waiting"
	"skep/grid"
	"skep/heap"
)

// streams of an experiment's chance.
const (
	streamGrid = 1 + iota
	streamBroker
	streamLinks
	streamLocal  = 1 << 16 // and on, one for each site
	streamStores = 1 << 20 // and on, one for each store
)

// kinds of events, in the order in which those of one instant happen.
type kind int

const (
	taskEnds kind = iota
	storeTurns
	allMeasured
	siteTells
	localArrives
	gridArrives
)

type event struct {
	kind kind
	n    int // of a site or a store
	task *task
	at   uint64 // in the order in which they were made
}

// Before implements [heap.Order].
func (byKind) Before(a, b event) bool {
	if a.kind != b.kind {
		return a.kind < b.kind
	}
	return a.at < b.at
}

type byKind struct{}

// engine runs an experiment under a strategy.
type engine struct {
	system *System
	broker broker
	sites  []site
	grid   *grid.Rand
	local  []*grid.Rand

	now    float64
	events heap.Heap[float64, event, byKind]
	made   uint64
	rate   float64 // of the grid's tasks, each second
	tasks  []*task // of the grid that are measured
	open   int     // of these, those that have not ended

	books
}

func newEngine(s *System, st Strategy, load float64, until float64, seed uint64) *engine {
	e := &engine{system: s, grid: grid.NewRand(seed, streamGrid), books: books{from: warmup * until, until: until}}
	e.broker = broker{system: s, strategy: st, chance: grid.NewRand(seed, streamBroker)}
	processors := 0
	for k, c := range s.Sites {
		processors += c
		e.sites = append(e.sites, site{total: c, free: c})
		e.broker.adverts = append(e.broker.adverts, waiting.Site{Free: c, Total: c})
		e.local = append(e.local, grid.NewRand(seed, streamLocal+uint64(k)))
		e.comeLocal(k)
		e.push(s.Adverts*float64(k+1)/float64(len(s.Sites)), event{kind: siteTells, n: k})
	}
	e.rate = (load - s.Local) * float64(processors) / s.Mean
	e.push(e.grid.ExpFloat64()/e.rate, event{kind: gridArrives})
	if s.Data != nil {
		e.broker.links = newLinks(s.Data, len(s.Sites), seed)
		for j := range s.Data.Failing {
			e.turns(j)
		}
		e.push(s.Data.Measured, event{kind: allMeasured})
	}
	return e
}

func (e *engine) push(in float64, ev event) {
	e.made++
	ev.at = e.made
	e.events.Push(e.now+in, ev)
}

// turns plans the next failure or return of a store; one that is never down has none.
func (e *engine) turns(j int) {
	if e.system.Data.Down > 0 {
		e.push(e.broker.links.next(j), event{kind: storeTurns, n: j})
	}
}

// comeLocal plans the next arrival of a site's own task.
func (e *engine) comeLocal(k int) {
	if e.system.Local == 0 {
		return
	}
	mean := 0.0
	for _, w := range e.system.Widths {
		mean += float64(w) / float64(len(e.system.Widths))
	}
	rate := e.system.Local * float64(e.sites[k].total) / (e.system.Mean * mean)
	e.push(e.local[k].ExpFloat64()/rate, event{kind: localArrives, n: k})
}

// run runs until all measured tasks have ended, or for three times the time in which they come; false = stop was set.
func (e *engine) run(stop func() bool) bool {
	for n := 0; e.now < e.until || e.open > 0 && e.now < 3*e.until; n++ {
		if n%1024 == 0 && stop() {
			return false
		}
		at, ev := e.events.Pop()
		e.pass(at)
		switch e.now = at; ev.kind {
		case taskEnds:
			e.end(ev.task)
		case storeTurns:
			e.broker.links.turn(ev.n)
			e.turns(ev.n)
		case allMeasured:
			e.broker.links.measure()
			e.broker.waiting, e.broker.held = append(e.broker.held, e.broker.waiting...), nil
			e.push(e.system.Data.Measured, ev)
			e.match()
		case siteTells:
			e.broker.adverts[ev.n] = e.sites[ev.n].advert(e.now)
			e.sites[ev.n].begun = 0
			e.push(e.system.Adverts, ev)
			e.match()
		case localArrives:
			w := e.system.Widths[e.local[ev.n].IntN(len(e.system.Widths))]
			t := e.draw(e.local[ev.n], task{local: true, width: w, site: ev.n})
			e.comeLocal(ev.n)
			e.queue(t)
		case gridArrives:
			e.arrive()
			e.match()
		}
	}
	return true
}

// arrive brings the next task of the grid to the broker.
func (e *engine) arrive() {
	t := e.draw(e.grid, task{width: 1, from: -1})
	if d := e.system.Data; d != nil {
		t.copies = e.grid.Perm(d.Stores)[:d.Copies]
		t.other = e.grid.Float64() < d.Other
	}
	if e.now >= e.from && e.now < e.until {
		t.measured = true
		e.tasks, e.open = append(e.tasks, t), e.open+1
	}
	e.broker.waiting = append(e.broker.waiting, t)
	e.push(e.grid.ExpFloat64()/e.rate, event{kind: gridArrives})
}

// draw makes a task that comes now.
func (e *engine) draw(r *grid.Rand, t task) *task {
	lognormal := func(spread float64) float64 { // of mean 1
		sigma := math.Sqrt(math.Log(1 + spread*spread))
		return math.Exp(sigma*r.NormFloat64() - sigma*sigma/2)
	}
	t.arrived, t.started = e.now, -1
	t.duration = e.system.Mean * lognormal(e.system.Spread)
	guess := lognormal(1)
	switch e.system.Estimates {
	case "exact":
		t.expected = t.duration
	case "guessed":
		t.expected = t.duration * guess
	}
	return &t
}
