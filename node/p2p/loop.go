package p2p

import (
	"time"

	"skep/grid"
	"skep/node/p2p/clock"
	"skep/node/p2p/inbox"
)

// Bounds of the loop.
const (
	maxBatch    = 256  // inputs and wakes of one transaction
	maxRecords  = 2048 // records of one transaction after which nothing more is stepped; one step may add many
	maxDeferred = 1024 // deferred records: no effect depends on them, and they are not on disk

	maxDefer = 20 * time.Millisecond // how long deferred records wait for a commit with others
)

// loop owns the node and steps it.
type loop struct {
	d       *Driver
	inbox   *inbox.Inbox
	callers callers

	// Used by the loop's goroutine only.
	fx       grid.Effects
	steps    []effectCounts
	records  int // in fx.Saves, with those that are deleted together
	timers   timers
	batch    []*inbox.Input
	reads    []*inbox.Input
	deferred []grid.Record // to be committed at commitBy; the effects of their steps are out
	commitBy grid.Time
	started  bool // the node has had its first event
	failed   bool // records could not be saved, or another process has the node's identity
}

func newLoop(d *Driver) *loop { return &loop{d: d, inbox: d.inbox} }

// run steps until the driver closes.
func (l *loop) run() {
	defer l.inbox.Close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-l.d.work.Context().Done():
			if err := l.commit(nil); err != nil {
				l.failed = true
				l.d.log.Error("the last records were not saved", "error", err)
			}
			return
		case in := <-l.inbox.Inputs():
			l.batch = append(l.batch, in)
		case <-timer.C:
		}
		if l.d.copies.halted.Load() {
			l.failed = true
			return
		}
		if err := l.turn(); err != nil {
			l.failed = true
			l.d.cfg.Fatal(err)
			return
		}
		wait := l.timers.next(clock.Now())
		if len(l.deferred) > 0 {
			wait = min(wait, max(l.commitBy.Sub(clock.Now()), 0))
		}
		timer.Reset(wait)
	}
}

// turn steps through the waiting inputs, commits their records, and carries out the effects.
func (l *loop) turn() error {
	at := clock.Now()
	l.checkDisk(at)
	for _, in := range l.batch {
		l.take(at, in)
	}
gather:
	for len(l.batch) < maxBatch && l.records < maxRecords {
		select {
		case in := <-l.inbox.Inputs():
			l.batch = append(l.batch, in)
			l.take(at, in)
		default:
			break gather
		}
	}
	for n := 0; n < maxBatch && l.records < maxRecords; n++ {
		w, ok := l.timers.due(at)
		if !ok {
			break
		}
		l.step(at, &grid.Event{Kind: grid.EvWake, Timer: w.Timer})
	}
	l.sendAll(true)
	if err := l.saveOrDefer(at); err != nil {
		return err
	}
	l.carryOut()
	for _, in := range l.reads {
		in.Read(at)
	}
	for _, in := range l.batch {
		in.Free()
	}
	l.batch, l.reads = l.batch[:0], l.reads[:0]
	return nil
}

// take steps an input, or keeps it until the turn's effects are carried out if it only reads.
func (l *loop) take(at grid.Time, in *inbox.Input) {
	if in.Read != nil {
		l.reads = append(l.reads, in)
		return
	}
	l.step(at, &in.Event)
	if in.Event.Kind == grid.EvStart {
		l.started = true
		l.checkDisk(at)
	}
}

// checkDisk tells the node when free space becomes low, and when there is enough again. The first check follows the
// node's first event.
func (l *loop) checkDisk(at grid.Time) {
	if !l.started {
		return
	}
	if low, changed := l.d.runner.CheckDisk(at); changed {
		l.step(at, &grid.Event{Kind: grid.EvDisk, Low: low})
	}
}
