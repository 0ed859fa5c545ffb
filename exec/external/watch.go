package external

import (
	"context"
	"time"
)

// Watcher looks after tasks again and again, sooner while something changes.
type Watcher struct {
	// Poll is the time between two looks while something changes; while nothing does it grows to MaxPoll.
	Poll, MaxPoll time.Duration

	// MaxRetry is the most between two looks while the other system does not answer.
	MaxRetry time.Duration

	// Look looks once, and reports whether there are tasks and whether something has changed. An error means that the
	// other system does not answer.
	Look func() (some, changed bool, err error)

	// Silent is called with the error when it does not answer any more, and with nil when it does again.
	Silent func(error)

	wake chan struct{}
}

// Init gets ready for Soon and Run.
func (w *Watcher) Init() { w.wake = make(chan struct{}, 1) }

// Soon has Run look soon: there is news of the node's own.
func (w *Watcher) Soon() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run looks until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	p := pace{poll: w.Poll, maxPoll: w.MaxPoll, maxRetry: w.MaxRetry}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
			timer.Reset(p.hurry(time.Now()))
			continue
		case <-timer.C:
		}
		some, changed, err := w.Look()
		if ctx.Err() != nil {
			return
		}
		if silent := err != nil; silent != p.silent {
			p.silent = silent
			w.Silent(err)
		}
		timer.Reset(p.next(time.Now(), some, changed))
	}
}

// pace says when to look next.
type pace struct {
	poll, maxPoll, maxRetry time.Duration

	pause  time.Duration
	due    time.Time
	silent bool // the other system does not answer
}

// idle is the pause while there are no tasks: hurry ends it.
const idle = 24 * time.Hour

// next is the pause after a look: the least one while something changes, longer and longer while nothing does.
func (p *pace) next(now time.Time, some, changed bool) time.Duration {
	switch {
	case !some:
		p.pause = idle
	case p.silent:
		p.pause = min(max(2*p.pause, p.poll), max(p.maxRetry, p.poll))
	case changed || p.pause == idle:
		p.pause = p.poll
	default:
		p.pause = min(max(p.pause+p.pause/4, p.poll), max(p.maxPoll, p.poll))
	}
	p.due = now.Add(p.pause)
	return p.pause
}

// hurry is the pause now that there is news of the node's own: what else comes in that time is looked at with it. A
// system that does not answer is not asked more often for it.
func (p *pace) hurry(now time.Time) time.Duration {
	if !p.silent {
		p.pause = p.poll
		if at := now.Add(p.poll); p.due.After(at) {
			p.due = at
		}
	}
	return max(p.due.Sub(now), 0)
}
