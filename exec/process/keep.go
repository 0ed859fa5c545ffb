//go:build unix

package process

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox"
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
	copySize = 64 << 10
	period   = 40 * time.Millisecond // of Share

	// stuck is how long a killed group is waited for: a process may hang in the kernel.
	stuck = 2 * time.Second

	// drained is how long the output of a task is waited for that has ended: somebody who left its group may hold it open.
	drained = time.Second
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

// copy moves an output to its file. It has a buffer only while there is something to move.
func (p *Process) copy(i int, f *os.File, copied chan<- struct{}) {
	defer func() { copied <- struct{}{} }()
	if f != p.terminal { // which may be opened again, and whose end would be a signal to the task
		defer f.Close()
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	for ended := false; !ended; {
		err := conn.Read(func(fd uintptr) bool {
			b := buffers.Get().(*[copySize]byte)
			defer buffers.Put(b)
			n, err := unix.Read(int(fd), b[:])
			if n > 0 {
				p.out[i].write(b[:n])
				return true
			}
			ended = err != unix.EAGAIN && err != unix.EINTR
			return ended
		})
		if err != nil {
			return
		}
	}
}

var buffers = sync.Pool{New: func() any { return new([copySize]byte) }}

// drain waits for the last of the output.
func (p *Process) drain(read [2]*os.File, copied <-chan struct{}) {
	limit := time.After(drained)
	for range read {
		select {
		case <-copied:
		case <-limit:
			closeAll(read[:])
			<-copied
		}
	}
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
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
	timeout <-chan time.Time
	kill    <-chan time.Time
	killAt  time.Time // when that is due
	turn    <-chan time.Time
}

// follow returns true when nothing of the task is left, false when what is left does not end.
func (k *keeper) follow() bool {
	p := k.p
	run := time.Duration(p.spec.Share * float64(period))
	if p.spec.Timeout > 0 {
		timer := time.NewTimer(p.spec.Timeout)
		defer timer.Stop()
		k.timeout = timer.C
	}
	if run > 0 {
		k.turn = time.After(run)
	}
	exited := k.g.Exited()
	for {
		if c := p.asked.Load(); c != 0 && !k.stopped && exited != nil {
			k.stop(Cause(c - 1))
		}
		if c := p.haste.Load(); c != 0 { // also of what the task has left, and in the grace that it has for another reason
			k.killIn(p.grace(Cause(c - 1)))
		}
		select {
		case <-k.g.Empty():
			p.settled(k.g.End(), k.stopped, k.why)
			return true
		case <-exited: // it left others behind
			exited, k.turn, k.timeout = nil, nil, nil
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
			k.share(run)
		}
	}
}

// stop begins the end of the task.
func (k *keeper) stop(why Cause) {
	k.stopped, k.why, k.turn, k.timeout = true, why, nil, nil
	k.g.Signal(syscall.SIGTERM)
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

// share stops or continues the task.
func (k *keeper) share(run time.Duration) {
	if k.paused {
		k.g.Signal(syscall.SIGCONT)
		k.turn = time.After(run)
	} else {
		k.g.Signal(syscall.SIGSTOP)
		k.turn = time.After(period - run)
	}
	k.paused = !k.paused
}
