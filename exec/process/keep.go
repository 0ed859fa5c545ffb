//go:build unix

package process

import (
	"os"
	"syscall"
	"time"

	"skep/exec/sandbox"
	"skep/exec/suspend"
)

// group is all that a task has started, and itself.
type group interface {
	Signal(syscall.Signal) error
	Exited() <-chan struct{} // closed when the task has ended; what it left has been sent SIGTERM
	Empty() <-chan struct{}  // closed when nothing is left
	End() sandbox.End        // as far as it is known
	Close()                  // what is left is killed, if that can be
}

const (
	period = 40 * time.Millisecond // of Share

	// stuck is how long a killed group is waited for: a process may hang in the kernel.
	stuck = 2 * time.Second
)

// keep follows p until its end, on goroutines of its own.
func (p *Process) keep(r *Runner, g group, read [2]*os.File) {
	copied := make(chan struct{}, len(read))
	for i, f := range read {
		if f == nil { // a terminal is one stream
			copied <- struct{}{}
			continue
		}
		go p.copy(i, f, copied)
	}
	if p.progress != nil {
		p.progress.Follow(p.spec.Progress, p.spec.Closed)
	}
	wake := make(chan struct{}, 1)
	p.mu.Lock()
	p.wake = func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	p.mu.Unlock()
	p.beside.open(g)
	go func() {
		k := keeper{p: p, g: g, wake: wake}
		if !k.follow() {
			r.mu.Lock()
			r.hung[p.spec.Dir] = true
			r.mu.Unlock()
		}
		p.beside.close()
		p.drain(read, copied)
		if p.progress != nil {
			p.progress.Close()
		}
		closeAll(read[:])
		p.mu.Lock()
		p.wake = nil
		p.mu.Unlock()
		r.watch.remove(p)
		g.Close()
		r.finish(p)
	}()
}

// keeper ends a task in time or on request, and makes it pause for its Share. Each of the times is a timer that is nil
// as long as nothing is due.
type keeper struct {
	p    *Process
	g    group
	wake <-chan struct{}

	stopped bool // asked to end, for the reason why
	why     Cause
	paused  bool
	limit   timeLimit
	timeout <-chan time.Time
	kill    <-chan time.Time
	killAt  time.Time // when that is due
	turn    <-chan time.Time

	suspended bool        // it is to be, as far as it was looked at
	held      bool        // it is: its time limit stands still
	stoppedBy suspend.Set // the processes that are stopped while it is
	again     <-chan time.Time
}

// follow returns true when nothing of the task is left, false when what is left does not end.
func (k *keeper) follow() bool {
	p := k.p
	if p.spec.Timeout > 0 {
		k.timeout = k.limit.start(p.spec.Timeout)
		defer k.limit.timer.Stop()
	}
	k.takeTurns()
	exited := k.g.Exited()
	for {
		if c := p.asked.Load(); c != 0 && !k.stopped && exited != nil {
			k.stop(Cause(c - 1))
		}
		if c := p.haste.Load(); c != 0 { // also of what the task has left, and in the grace that it has for another reason
			k.killIn(p.grace(Cause(c - 1)))
		}
		if on := p.toSuspend.Load(); on != k.suspended && !k.stopped && exited != nil {
			k.suspend(on)
		}
		select {
		case <-k.g.Empty():
			p.settled(k.g.End(), k.stopped, k.why)
			return true
		case <-exited: // it left others behind
			exited, k.turn, k.timeout, k.again = nil, nil, nil, nil
			k.stoppedBy.Continue(p.members)
			k.killIn(p.spec.Grace)
		case <-k.wake:
		case <-k.timeout:
			p.asked.CompareAndSwap(0, 1+int32(TimedOut))
		case <-k.kill:
			k.g.Signal(syscall.SIGKILL)
			k.kill = nil
			if !k.emptyWithin(stuck) {
				k.g.Close()
				if !k.emptyWithin(stuck) { // a process hangs in the kernel
					p.settled(k.g.End(), k.stopped, k.why)
					return false
				}
			}
		case <-k.turn:
			k.share()
		case <-k.again:
			k.hold()
		}
	}
}

// stop begins the end of the task.
func (k *keeper) stop(why Cause) {
	k.stopped, k.why, k.turn, k.timeout, k.again = true, why, nil, nil, nil
	k.g.Signal(syscall.SIGTERM)
	k.stoppedBy.Continue(k.p.members)
	k.g.Signal(syscall.SIGCONT) // a stopped process takes no SIGTERM
	k.killIn(k.p.grace(why))
}

// killIn has what is left killed after a time at the latest.
func (k *keeper) killIn(d time.Duration) {
	if at := time.Now().Add(d); k.kill == nil || at.Before(k.killAt) {
		k.kill, k.killAt = time.After(d), at
	}
}

func (k *keeper) emptyWithin(d time.Duration) bool {
	select {
	case <-k.g.Empty():
		return true
	case <-time.After(d):
		return false
	}
}

// run is for how long the task runs in a period of its Share; 0 = it has none, and runs always.
func (k *keeper) run() time.Duration { return time.Duration(k.p.spec.Share * float64(period)) }

// takeTurns has the task run, and pause when its turn is over.
func (k *keeper) takeTurns() {
	if run := k.run(); run > 0 {
		k.turn = time.After(run)
	}
}

// share stops or continues the task.
func (k *keeper) share() {
	if k.paused {
		k.g.Signal(syscall.SIGCONT)
		k.turn = time.After(k.run())
	} else {
		k.g.Signal(syscall.SIGSTOP)
		k.turn = time.After(period - k.run())
	}
	k.paused = !k.paused
}

// lookAgain is the time between two looks at whether a suspended task is stopped: it may have had itself continued.
const lookAgain = time.Second

// suspend stops the task with all that it has started, or continues it.
func (k *keeper) suspend(on bool) {
	if k.suspended = on; on {
		k.hold()
		return
	}
	k.stoppedBy.Continue(k.p.members)
	k.again = nil
	k.letGo()
}

// hold stops the task if it runs. Its time limit stands still from then on. Where it cannot be stopped it goes on, and
// that is tried again.
func (k *keeper) hold() {
	p := k.p
	if k.paused { // by what stops it now it would not be continued
		k.g.Signal(syscall.SIGCONT)
		k.paused = false
	}
	err := k.stoppedBy.Stop(p.members, func() bool {
		return p.asked.Load() != 0 || p.haste.Load() != 0 || !p.toSuspend.Load()
	})
	k.again = time.After(lookAgain)
	switch {
	case err != nil:
		k.letGo()
		if err != suspend.ErrQuit && p.spec.NotSuspended != nil {
			p.spec.NotSuspended(err)
		}
	case !k.held:
		k.held, k.turn, k.timeout = true, nil, nil
		k.limit.standStill()
	}
}

// letGo has the time limit and the turns of a task go on that was held.
func (k *keeper) letGo() {
	if !k.held {
		return
	}
	k.held = false
	k.timeout = k.limit.goOn()
	k.takeTurns()
}
