package queueing

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sync/atomic"

	"skep/balance"
	"skep/grid"
	"skep/lpas"
)

// engine is one run of a system under one policy. Time is a float in the system's unit; policies see it in
// nanoseconds, with the unit read as a second.
type engine struct {
	sys      *System
	n, m     int // classes, machines
	line     []int
	chains   []*walk // by line; nil
	machines []machine
	tree     tree

	now     float64
	arrival float64 // the next
	special float64 // the next of marks, changes and messages
	books   books
	stop    *atomic.Bool
	look    int64 // one less than the arrivals, a power of two, between two looks at it
	rare    int64 // what happened otherwise

	rates    rates
	arrivals *grid.Rand // when and what
	origins  *grid.Rand // where
	sizes    *grid.Rand
	faults   *grid.Rand
	again    *grid.Rand // sizes after a fault
	changes  *grid.Rand
	errors   *grid.Rand
	order    *grid.Rand // of idle machines

	nextChange, nextShift float64

	push  *push // one of the two
	pull  *pull
	batch *batchMapper // besides push; nil = each task is placed as it comes

	pulls     bool // machines take
	scattered bool // machines decide
}

// machine is one machine. What happens to it next is the least of three times.
type machine struct {
	queue fifo // in order of arrival; the first is in execution
	done  float64
	flip  float64 // failure or repair
	step  float64 // of its availability
	other float64 // the lesser of the two
	down  bool
	speed float64 // the availability
	state int     // of its chain
	left  float64 // work of the running task as of began, for machines whose speed changes
	began float64
}

func newEngine(s *System, policy string, o *Options, replication int, stop *atomic.Bool) (*engine, error) {
	draw := func(k int) *grid.Rand { return stream(o.Seed, replication, k) }
	e := &engine{sys: s, n: len(s.Classes), m: s.Size(), stop: stop, pulls: IsPull(policy), scattered: s.scattered(policy),
		arrivals: draw(streamArrivals), origins: draw(streamOrigins), sizes: draw(streamSizes), faults: draw(streamFaults),
		again: draw(streamAgain), changes: draw(streamChanges), errors: draw(streamErrors), order: draw(streamOrder)}
	e.tree = newTree(e.m)
	e.look = int64(1)<<max(14-bits.Len(uint(e.m)), 0) - 1 // a decision may cost as much as there are machines
	e.machines = make([]machine, e.m)
	for l, line := range s.Machines {
		e.chains = append(e.chains, newWalk(s.availability(l).Chain))
		for range line.count() {
			e.line = append(e.line, l)
		}
	}
	e.books.init(e.n, o)
	for j := range e.machines {
		e.start(j)
	}
	e.rates.init(e)
	e.nextChange, e.nextShift = math.Inf(1), math.Inf(1)
	if s.RateChanges != nil {
		e.nextChange = e.changes.ExpFloat64() * s.RateChanges.MeanInterval
	}
	if s.AvailabilityChanges != nil {
		e.nextShift = e.changes.ExpFloat64() * s.AvailabilityChanges.MeanInterval
	}
	e.arrival = e.gap()
	c := o.Balance
	c.FirstTie = c.FirstTie || s.Ties == Lowest
	if c.Scratch == nil {
		c.Scratch = new(lpas.Workspace)
	}
	if e.pulls {
		p, err := balance.MakePull(policy, c, draw(streamPolicies))
		if err != nil {
			return nil, err
		}
		e.pull = newPull(e, p)
	} else if err := e.newPush(policy, c, draw); err != nil {
		return nil, err
	} else if batches(e.push.policies[0]) {
		e.batch = newBatchMapper(e.push.policies[0], *s.Mapping)
	}
	e.plan()
	return e, nil
}

// start sets a machine up as at the beginning: up, with a fresh time to its first fault.
func (e *engine) start(j int) {
	m := &e.machines[j]
	m.done, m.flip, m.step, m.speed = math.Inf(1), math.Inf(1), math.Inf(1), 1
	if c := e.chains[e.line[j]]; c != nil {
		m.state = c.first(e.faults)
		m.speed, m.step = c.Values[m.state], c.stay(m.state, e.faults)
	} else {
		m.speed = e.sys.availability(e.line[j]).Fixed
	}
	if f := e.sys.failures(e.line[j]); f.Rate > 0 {
		m.flip = f.Up.Draw(e.faults) / f.Rate
	}
	m.other = min(m.flip, m.step)
	e.tree.set(j, m.next())
}

func (m *machine) next() float64 {
	if m.other < m.done {
		return m.other
	}
	return m.done
}

// gap is the time to the next arrival.
func (e *engine) gap() float64 {
	if e.rates.total == 0 {
		return math.Inf(1)
	}
	return e.now + e.arrivals.ExpFloat64()/e.rates.total
}

// plan sets the time of the next special event.
func (e *engine) plan() {
	e.special = min(e.books.next(), e.nextChange, e.nextShift)
	if e.push != nil {
		e.special = min(e.special, e.push.flights.next())
	}
	if e.pull != nil {
		e.special = min(e.special, e.pull.flights.next())
	}
	if e.batch != nil {
		e.special = min(e.special, e.batch.next)
	}
}

// run goes on to the end, which is a mark and thus special.
func (e *engine) run() {
	for {
		first := &e.tree.node[1]
		switch at := first.at(); {
		case at <= e.arrival && at <= e.special:
			e.advance(at)
			e.happen(int(first.who))
		case e.arrival <= e.special:
			e.advance(e.arrival)
			e.arrive()
			if e.books.arrived&e.look == 0 && e.stop.Load() {
				return
			}
		default:
			if e.advance(e.special); !e.extra() {
				return
			}
			e.plan()
		}
	}
}

// advance counts the time that passes.
func (e *engine) advance(t float64) {
	e.books.area += float64(e.books.inside) * (t - e.now)
	e.now = t
}

// extra does what is special, and reports whether the run goes on.
func (e *engine) extra() bool {
	if e.stop.Load() {
		return false
	}
	switch {
	case e.special == e.nextChange:
		e.change()
	case e.special == e.nextShift:
		e.shift()
	case e.special == e.books.next():
		return e.books.close(e)
	case e.batch != nil && e.special == e.batch.next:
		e.batch.due(e)
	case e.pull != nil:
		e.pull.land(e)
	default:
		e.push.land(e)
	}
	return true
}

// arrive brings the task whose time has come.
func (e *engine) arrive() {
	i, from := e.rates.where(e.arrivals.Uint64())
	t := task{since: e.now, size: e.sys.Service.Draw(e.sizes), class: int32(i)}
	e.books.inside++
	e.books.arrived++
	e.arrival = e.gap()
	if e.books.inside > mostTasks {
		e.books.flooded = true
		e.arrival = math.Inf(1)
	}
	if e.pull != nil {
		e.pull.arrive(e, t)
		return
	}
	if e.batch != nil {
		e.batch.arrive(e, t)
		return
	}
	if from < 0 && e.scattered {
		from = e.origins.IntN(e.m)
	}
	e.push.place(e, t, from)
}

// mostTasks bounds the tasks in a system: one that holds more has lost its balance, and nothing more arrives.
const mostTasks = 10_000_000

// clock is the time as policies see it.
func (e *engine) clock() grid.Time { return grid.Time(e.now * 1e9) }

// identity is the name of machine j: its number comes first. The mapper's is above all.
func identity(j int) (id grid.NodeID) {
	binary.BigEndian.PutUint32(id[:], uint32(j+1))
	return id
}

func number(id *grid.NodeID) int { return int(binary.BigEndian.Uint32(id[:4])) - 1 }

var mapper = grid.NodeID{0xff, 0xff, 0xff, 0xff}
