package sim

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"skep/grid"
	"skep/lpas"
	"skep/node"
)

// World is a running simulation. It is used from one goroutine.
type World struct {
	cfg    Config
	now    grid.Time
	queue  Queue
	seq    uint64
	hosts  []host
	chance *grid.Rand // of the network, disks and clocks
	size   rand.PCG   // of tasks: seeded again for each
	sizes  *grid.Rand // draws from size

	network
	machines
	books

	fx      grid.Effects
	ev      grid.Event
	spare   []*grid.Effects // buffers of effects that wait for a disk
	records [][]grid.Record // and of records that do
	again   []int32
	steps   uint64
	alive   time.Duration // of the runs of nodes that are over
	digest  digest
	last    [64]happened // the last steps, for a failure's text
	tap     tap
	lp      lpas.Workspace // lent to all nodes, as is the next: one steps at a time
	lent    node.Scratch
	fail    *Failure
}

// New makes a world at time 0, with every node about to come up.
func New(cfg Config) (*World, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg.defaults()
	w := &World{cfg: cfg, queue: cfg.Queue(), hosts: make([]host, cfg.Nodes), chance: grid.NewRand(cfg.Seed, 1)}
	w.sizes = &grid.Rand{Rand: rand.New(&w.size)}
	w.tap.node = -1
	for i := range w.hosts {
		h := &w.hosts[i]
		h.id, h.slow, h.runs, h.speed = nodeID(i, cfg.Seed), 1, -1, 1
		h.left, _ = cfg.Available(i)
		w.push(grid.Time(int64(cfg.Spread)*int64(i)/int64(cfg.Nodes)), kindStart, int32(i), 0, 0)
	}
	w.join()
	w.open()
	if len(cfg.Work) > 0 {
		w.push(grid.Time(cfg.Work[0].At), kindSubmit, 0, 0, 0)
	}
	if len(cfg.Faults) > 0 {
		w.push(grid.Time(cfg.Faults[0].At), kindFault, 0, 0, 0)
	}
	return w, nil
}

// Now is the time since the world began.
func (w *World) Now() time.Duration { return time.Duration(w.now) }

// Run runs the world until every submission has ended, every node has let go of its work and the last
// fault has struck, and for Config.Rest longer. It returns a *[Failure] at the first thing that must not
// happen, and where the end has not come within Config.Bound.
func (w *World) Run() (Report, error) {
	w.guard(func() {
		for w.fail == nil && !w.done() {
			w.next(grid.Never)
		}
		for end := w.now.Add(w.cfg.Rest); w.fail == nil && w.next(end); {
		}
		if w.fail == nil {
			w.audit()
		}
	})
	return w.Report(), w.err()
}

// Advance runs the world until a time since it began, and reports whether all was done before; then, or
// when nobody wants to wait any longer, Run ends it or Report says what there is.
func (w *World) Advance(t time.Duration) (done bool, err error) {
	w.guard(func() {
		for w.fail == nil {
			if done = w.done(); done || !w.next(grid.Time(t)) {
				return
			}
		}
	})
	return done, w.err()
}

// RunUntil runs the world until a time since it began, whatever is done by then.
func (w *World) RunUntil(t time.Duration) error {
	w.guard(func() {
		for w.fail == nil && w.next(grid.Time(t)) {
		}
	})
	return w.err()
}

// err returns the failure as an error, nil where there is none.
func (w *World) err() error {
	if w.fail == nil {
		return nil
	}
	return w.fail
}

// guard turns a panic of a node, which names a broken invariant, into a failure.
func (w *World) guard(f func()) {
	defer func() {
		if r := recover(); r != nil && w.fail == nil {
			w.failf(w.last[w.steps%uint64(len(w.last))].node, "panic: %v\n%s", r, debug.Stack())
		}
	}()
	f()
}

// next lets the next event happen, if it is not after end, and reports whether it was not. The world's
// clock then stands at the event, or at end.
func (w *World) next(end grid.Time) bool {
	e, ok := w.queue.Pop()
	if !ok {
		if end == grid.Never {
			w.failf(-1, "nothing will happen any more, and %s", w.missing())
		}
		return false
	}
	if e.At > end {
		w.queue.Push(e)
		w.now = end
		return false
	}
	w.now = e.At
	w.happen(&e)
	return true
}

// push adds an event. Events of a node are dropped when it has been down since.
func (w *World) push(at grid.Time, k Kind, i int32, sub uint8, arg uint64) {
	w.seq++
	w.queue.Push(Event{At: at, Seq: w.seq, Arg: arg, Node: i, Boot: w.hosts[i].boot(), Kind: k, Sub: sub})
}

// here reports whether e was meant for the current run of its node.
func (w *World) here(e *Event) bool {
	h := &w.hosts[e.Node]
	return h.up && h.boot() == e.Boot
}

func (w *World) happen(e *Event) {
	switch e.Kind {
	case kindStart:
		w.start(e.Node)
	case kindWake:
		if w.here(e) && !w.early(e) {
			w.ev = grid.Event{Kind: grid.EvWake, Timer: grid.Timer{Kind: grid.TimerKind(e.Sub), Key: e.Arg}}
			w.step(e.Node, &w.ev)
		}
	case kindMessage:
		w.arrive(e)
	case kindHop:
		w.hop(e)
	case kindDial:
		w.dialled(e)
	case kindRedial:
		w.redial(e)
	case kindDown:
		w.found(e)
	case kindTimeout:
		w.timeout(e)
	case kindIdle:
		w.idle(e)
	case kindStarted:
		w.began(e)
	case kindEnded:
		w.ended(e)
	case kindFetched:
		w.fetched(e)
	case kindCommit:
		w.commit(e)
	case kindFlush:
		w.flushPostponed(e)
	case kindSubmit:
		w.submitNext()
	case kindCancel:
		w.cancel(e)
	case kindFault:
		w.strikeNext()
	case kindResume:
		w.resume(e)
	case kindLate:
		w.late(e)
	case kindBar:
		w.bar(e)
	case kindDrained:
		w.leaving--
		if w.here(e) {
			w.leave(e.Node)
		}
	case kindLeft:
		w.leaving--
		if w.here(e) {
			w.crash(e.Node)
		}
	default:
		panic(fmt.Sprintf("sim: event of unknown kind %d", e.Kind))
	}
}
