package process

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"skep/exec/progress"
	"skep/exec/sandbox"
	"skep/exec/suspend"
	"skep/exec/terminal"
)

// Process is one running task.
type Process struct {
	spec Spec
	pid  int // in its box, or of the machine, where it is also its process group and its session
	out  [2]sink

	progress *progress.Pipe // nil = the task is not asked

	asked atomic.Int32 // 1 + the Cause for which it shall stop; the first one counts
	// 1 + the Cause for which what is left of it cannot have its whole grace, whatever it is stopped for
	haste atomic.Int32
	peak  atomic.Int64 // the most memory that was seen

	toSuspend atomic.Bool
	members   suspend.Task

	mu   sync.Mutex
	said string // of DiskExceeded, and of MemoryExceeded if its size is not the reason: what is said about it
	wake func() // makes the task's keeper look at asked; nil once the task has ended

	beside beside

	terminal *os.File // the node's end of its terminal, open until its end; nil = it has none

	done   chan struct{}
	result Result
}

// Wait waits until the task and its whole group have ended and its output is complete, and returns the result.
func (p *Process) Wait() Result {
	<-p.done
	return p.result
}

// Type gives the task, which has a terminal, what is typed there. After its end the error is os.ErrClosed.
func (p *Process) Type(b []byte) error {
	_, err := p.terminal.Write(b)
	return err
}

// Resize sets the size of its terminal.
func (p *Process) Resize(s terminal.Size) error { return terminal.Set(p.terminal, s) }

// Cancel stops the task: SIGTERM to its group, then SIGKILL. It does not wait.
func (p *Process) Cancel() { p.stop(Cancelled) }

// Suspend stops the task in place with all that it has started, until Resume; its time limit stands still. What it had
// stopped itself stays stopped by a Resume. A task that is to end goes on to its end. It does not wait: where processes
// cannot be stopped, Asked.NotSuspended is told why, and the task goes on.
func (p *Process) Suspend() { p.suspend(true) }

// Resume continues a suspended task.
func (p *Process) Resume() { p.suspend(false) }

func (p *Process) suspend(on bool) {
	p.toSuspend.Store(on)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wake != nil {
		p.wake()
	}
}

// Full kills the task, whose files have filled the disk: what it would still save takes the room of others. The result
// says why.
func (p *Process) Full(why string) {
	p.stopFor(DiskExceeded, why)
}

// stopFor is stop with a reason for people.
func (p *Process) stopFor(c Cause, why string) {
	p.mu.Lock()
	if p.asked.Load() == 0 {
		p.said = why
	}
	p.mu.Unlock()
	p.stop(c)
}

func (p *Process) stop(c Cause) {
	first := p.asked.CompareAndSwap(0, 1+int32(c))
	if !p.hasten(c) && !first {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wake != nil {
		p.wake()
	}
}

// hasten notes that the task holds what others need, and reports whether that is news. The disk is more urgent than
// memory.
func (p *Process) hasten(c Cause) bool {
	switch c {
	case MemoryExceeded:
		return p.haste.CompareAndSwap(0, 1+int32(c))
	case DiskExceeded:
		return p.haste.Swap(1+int32(c)) != 1+int32(c)
	}
	return false
}

// MaxMemoryGrace bounds the grace of a task that holds too much memory: what it has not saved by
// then it would pay for with the memory of its neighbours.
const maxMemoryGrace = 500 * time.Millisecond

func (p *Process) grace(c Cause) time.Duration {
	switch c {
	case MemoryExceeded:
		return min(p.spec.Grace, maxMemoryGrace)
	case DiskExceeded:
		return 0
	}
	return p.spec.Grace
}

// settled says what is known of a task of which nothing is left.
func (p *Process) settled(end sandbox.End, stopped bool, why Cause) {
	p.result.MaxRSS = max(p.result.MaxRSS, end.MaxRSS)
	switch {
	case end.Broken:
		p.result.Cause, p.result.Error = Broken, "its box was lost: what keeps it was killed, as when memory runs out"
		return
	case end.OutOfMemory && !stopped:
		stopped, why = true, MemoryExceeded
		p.peak.Store(max(p.peak.Load(), p.spec.Memory))
	}
	p.settle(end.Status, end.CPU, stopped, why)
}

// settle fills in the result from the wait status of the main process; stopped says that we asked
// for its end before it came, and why.
func (p *Process) settle(ws syscall.WaitStatus, cpu time.Duration, stopped bool, why Cause) {
	res := &p.result
	res.CPU, res.MaxRSS = cpu, max(res.MaxRSS, p.peak.Load())
	if ws.Signaled() {
		res.Cause, res.Signal = Signaled, int(ws.Signal())
		res.Error = fmt.Sprintf("killed by signal %d (%v)", res.Signal, ws.Signal())
	} else {
		res.Cause, res.Exit = Exited, ws.ExitStatus()
	}
	if !stopped {
		return
	}
	res.Cause = why
	switch why {
	case TimedOut:
		res.Error = fmt.Sprintf("ran longer than its time limit of %v", p.spec.Timeout)
	case MemoryExceeded, DiskExceeded:
		p.mu.Lock()
		defer p.mu.Unlock()
		if res.Error = p.said; p.said == "" {
			res.Error = fmt.Sprintf("held %d MiB of memory, more than its bound of %d MiB", p.peak.Load()>>20, p.spec.Memory>>20)
		}
	case Cancelled:
		res.Error = "cancelled"
	}
}

// timeLimit is a timer that can stand still.
type timeLimit struct {
	timer *time.Timer // nil = there is no limit
	ends  time.Time
	left  time.Duration // while it stands still
}

func (l *timeLimit) start(d time.Duration) <-chan time.Time {
	l.timer, l.ends = time.NewTimer(d), time.Now().Add(d)
	return l.timer.C
}

func (l *timeLimit) standStill() {
	if l.timer != nil {
		l.timer.Stop()
		l.left = max(time.Until(l.ends), 0)
	}
}

func (l *timeLimit) goOn() <-chan time.Time {
	if l.timer == nil {
		return nil
	}
	l.timer.Reset(l.left)
	l.ends = time.Now().Add(l.left)
	return l.timer.C
}
