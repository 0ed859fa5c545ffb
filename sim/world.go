package sim

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"skep/grid"
	"skep/lpas"
	"skep/node"
	"skep/sim/event"
	"skep/sim/oracle"
)

// World is a running simulation. It is used from one goroutine.
type World struct {
	cfg   Config
	now   grid.Time
	queue *event.Ladder
	seq   uint64
	hosts []host
	rng   *grid.Rand // of the network, disks and clocks
	size  rand.PCG   // of tasks: reseeded for each
	sizes *grid.Rand // draws from size

	network
	machines
	agenda
	disks
	books *oracle.Books
	ahead prefetcher

	fx      grid.Effects
	ev      grid.Event
	steps   uint64
	upTime  time.Duration // of ended runs
	digest  digest
	recent  [64]stepRecord // the last steps, for a failure's text
	tap     tap
	scratch scratch
	fail    *Failure
}

// scratch is memory that the nodes share: one steps at a time.
type scratch struct {
	node node.Scratch
	lp   lpas.Workspace
}

// New makes a world at time 0, before the start of any node.
func New(cfg Config) (*World, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg.defaults()
	if slices.ContainsFunc(cfg.Work, func(s Submission) bool { return len(s.After) > 0 }) {
		cfg.Work = slices.Clone(cfg.Work) // what they wait for is added to their specifications
	}
	w := &World{cfg: cfg, queue: event.NewLadder(), hosts: make([]host, cfg.Nodes), rng: grid.NewRand(cfg.Seed, 1)}
	w.sizes = &grid.Rand{Rand: rand.New(&w.size)}
	w.tap.node = -1
	for i := range w.hosts {
		h := &w.hosts[i]
		h.id, h.slow, h.runs, h.speed = nodeID(i, cfg.Seed), 1, -1, 1
		h.coreShare, _ = cfg.Available(i)
		if !cfg.joinsLater(i) {
			w.push(grid.Time(int64(cfg.Spread)*int64(i)/int64(cfg.Nodes)), kindStart, int32(i), 0, 0)
		}
	}
	w.parallel = newParallel(w)
	w.drawKnownPeers()
	w.openCodec()
	w.openBooks()
	w.watchStores()
	if cfg.Hindsight {
		w.watch()
	}
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

// Run runs the world until all submissions have ended, all nodes have deleted their work records and the last fault
// has been applied, and for Config.Rest longer. It returns a *[Failure] at the first violated check, or when the end
// has not come within Config.Bound.
func (w *World) Run() (Report, error) {
	w.recoverPanics(func() {
		for w.fail == nil && !w.done() {
			w.processNext(grid.Never)
		}
		for end := w.now.Add(w.cfg.Rest); w.fail == nil && w.processNext(end); {
		}
		if w.fail == nil {
			w.audit()
		}
	})
	return w.Report(), w.err()
}

// Advance runs the world until a time since it began, and reports whether everything was done before. Afterwards Run
// runs it to its end, and Report returns the results so far.
func (w *World) Advance(t time.Duration) (done bool, err error) {
	w.recoverPanics(func() {
		for w.fail == nil {
			if done = w.done(); done || !w.processNext(grid.Time(t)) {
				return
			}
		}
	})
	return done, w.err()
}

// RunUntil runs the world until a time since it began, whether everything is done or not.
func (w *World) RunUntil(t time.Duration) error {
	w.recoverPanics(func() {
		for w.fail == nil && w.processNext(grid.Time(t)) {
		}
	})
	return w.err()
}

// err returns the failure as an error, nil where there is none.
func (w *World) err() error {
	if w.fail == nil || w.fail.undecided {
		return nil
	}
	return w.fail
}

// recoverPanics turns a panic of a node, which names a broken invariant, into a failure.
func (w *World) recoverPanics(f func()) {
	defer func() {
		if r := recover(); r != nil && w.fail == nil {
			w.failf(w.recent[w.steps%uint64(len(w.recent))].node, "panic: %v\n%s", r, debug.Stack())
		}
	}()
	f()
}

// processNext dispatches the next event unless it is after end, and reports whether it did. The world's clock is then
// the event's time, or end.
func (w *World) processNext(end grid.Time) bool {
	e, ok := w.queue.Pop()
	if !ok {
		if end == grid.Never {
			w.failf(-1, "nothing will happen any more, and %s", w.books.Unfinished())
		}
		return false
	}
	if e.At > end {
		w.queue.Push(e)
		w.now = end
		return false
	}
	w.now = e.At
	w.fetchAhead()
	w.dispatch(&e)
	return true
}

// push schedules an event. It is dropped if its node was restarted before.
func (w *World) push(at grid.Time, k event.Kind, i int32, sub uint8, arg uint64) {
	w.seq++
	w.queue.Push(event.Event{At: at, Seq: w.seq, Arg: arg, Node: i, Boot: w.hosts[i].boot(), Kind: k, Sub: sub})
}

// isCurrent reports whether e is for the current run of its node.
func (w *World) isCurrent(e *event.Event) bool {
	h := &w.hosts[e.Node]
	return h.up && h.boot() == e.Boot
}

func (w *World) dispatch(e *event.Event) {
	switch e.Kind {
	case kindStart:
		w.start(e.Node)
	case kindWake:
		if w.isCurrent(e) && !w.deferEarlyWake(e) {
			w.ev = grid.Event{Kind: grid.EvWake, Timer: grid.Timer{Kind: grid.TimerKind(e.Sub), Key: e.Arg}}
			w.step(e.Node, &w.ev)
		}
	case kindMessage:
		w.arrive(e)
	case kindHop:
		w.hop(e)
	case kindDial:
		w.dialDone(e)
	case kindRedial:
		w.redial(e)
	case kindDown:
		w.peerDied(e)
	case kindTimeout:
		w.timeout(e)
	case kindIdle:
		w.idle(e)
	case kindStarted:
		w.runStarted(e)
	case kindEnded:
		w.runEnded(e)
	case kindFetched:
		w.fetched(e)
	case kindSaves:
		w.saves(e)
	case kindTaken:
		w.taken(e)
	case kindCommit:
		w.endCommit(e)
	case kindFlush:
		w.flushPostponed(e)
	case kindSubmit:
		w.submitNext()
	case kindCancel:
		w.cancel(e)
	case kindCancelTask, kindRetryTask:
		w.askAboutTask(e)
	case kindRanks:
		w.advanceRanks(e.Arg)
	case kindFault:
		w.applyNextFault()
	case kindResume:
		w.resume(e)
	case kindTell:
		w.tellPeers(e)
	case kindLate:
		w.reportTooLate(e)
	case kindBlock:
		w.endBlocked(e)
	case kindDrained:
		w.leaving--
		if w.isCurrent(e) {
			w.leave(e.Node)
		}
	case kindLeft:
		w.leaving--
		if w.isCurrent(e) {
			w.crash(e.Node)
		}
	default:
		panic(fmt.Sprintf("sim: event of unknown kind %d", e.Kind))
	}
}
