//go:build unix && !linux

package process

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"skep/grid"
)

// host has nothing to share where the system is not Linux.
type host struct{}

func (*host) init()  {}
func (*host) close() {}

// Confined says that nothing keeps a task out of Spec.Deny except another user.
func (r *Runner) Confined() (bool, string) {
	if r.user != nil {
		return true, "tasks run as " + r.user.name + "; file permissions alone guard the data folder"
	}
	return false, "only Linux can confine a task: it can read and change the node's data folder"
}

// CPU says that it cannot tell: the process table is read on Linux alone.
func (r *Runner) CPU() (time.Duration, bool) { return 0, false }

// Cores is what the processors of the whole machine have done since it started.
type Cores struct {
	Count int
	Busy  time.Duration
	Want  int
	Quota float64
}

// ReadCores says that it cannot tell.
func ReadCores() (Cores, bool) { return Cores{}, false }

// MemoryBound is 0, no bound: control groups are on Linux alone.
func MemoryBound() grid.Bytes { return 0 }

// Reap finds nothing: without /proc there is no safe way to know a leftover process.
func Reap(string) (int, error) { return 0, nil }

// launch starts p in a group of its own. Memory, MaxFile, MaxOpen and Deny are not enforced here, and
// a killed node leaves its tasks behind.
func (r *Runner) launch(p *Process, path string, env []string) error {
	var read, write [2]*os.File
	for i := range read {
		var err error
		if read[i], write[i], err = os.Pipe(); err != nil {
			closeAll(append(read[:], write[:]...))
			return fmt.Errorf("process: start %s: make pipe: %w", p.spec.Argv[0], err)
		}
	}
	attr := syscall.ProcAttr{
		Dir: Work(p.spec.Dir), Env: env,
		Files: []uintptr{uintptr(r.null), write[0].Fd(), write[1].Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	if u := r.user; u != nil {
		attr.Sys.Credential = &syscall.Credential{Uid: u.uid, Gid: u.gid}
	}
	p.result.Started = time.Now()
	pid, err := syscall.ForkExec(path, p.spec.Argv, &attr)
	closeAll(write[:])
	if err != nil {
		closeAll(read[:])
		return execError(p.spec.Argv[0], path, err)
	}
	p.pid = pid
	if r.nice > 0 {
		unix.Setpriority(unix.PRIO_PROCESS, pid, r.nice)
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
	go r.follow(p, read, wake)
	return nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// follow keeps p until its end.
func (r *Runner) follow(p *Process, read [2]*os.File, wake chan struct{}) {
	ended, copied := make(chan unix.Rusage, 1), make(chan struct{}, 2)
	var ws unix.WaitStatus
	go func() {
		var ru unix.Rusage
		for {
			if _, err := unix.Wait4(p.pid, &ws, 0, &ru); err != unix.EINTR {
				break
			}
		}
		ended <- ru
	}()
	for i, f := range read {
		go func() {
			b := make([]byte, 64<<10)
			for {
				n, err := f.Read(b)
				if n > 0 {
					p.out[i].write(b[:n])
				}
				if err != nil {
					copied <- struct{}{}
					return
				}
			}
		}()
	}
	usage, stopped, why := p.guard(ended, wake)
	unix.Kill(-p.pid, unix.SIGKILL) // what is left of its group
	limit := time.After(time.Second)
	for n := 0; n < len(read); {
		select {
		case <-copied:
			n++
		case <-limit: // somebody who left the group holds a pipe
			closeAll(read[:])
			limit = nil
		}
	}
	closeAll(read[:])
	p.mu.Lock()
	p.wake = nil
	p.mu.Unlock()
	p.settle(syscall.WaitStatus(ws), time.Duration(usage.Utime.Nano()+usage.Stime.Nano()), stopped, why)
	r.finish(p)
}

// guard stops p in time or on request, and makes it pause for its Share, until it has ended.
func (p *Process) guard(ended <-chan unix.Rusage, wake <-chan struct{}) (ru unix.Rusage, stopped bool, why Cause) {
	const period = 40 * time.Millisecond
	var timeout, kill, turn <-chan time.Time
	run := time.Duration(p.spec.Share * float64(period))
	paused := false
	if p.spec.Timeout > 0 {
		timeout = time.After(p.spec.Timeout)
	}
	if run > 0 {
		turn = time.After(run)
	}
	for {
		if c := p.asked.Load(); c != 0 && !stopped {
			stopped, why, turn, timeout = true, Cause(c-1), nil, nil
			unix.Kill(-p.pid, unix.SIGTERM)
			unix.Kill(-p.pid, unix.SIGCONT)
			kill = time.After(p.grace(why))
		}
		select {
		case ru = <-ended:
			return ru, stopped, why
		case <-wake:
		case <-timeout:
			p.asked.CompareAndSwap(0, 1+int32(TimedOut))
		case <-kill:
			unix.Kill(-p.pid, unix.SIGKILL)
		case <-turn:
			if paused {
				unix.Kill(-p.pid, unix.SIGCONT)
				turn = time.After(run)
			} else {
				unix.Kill(-p.pid, unix.SIGSTOP)
				turn = time.After(period - run)
			}
			paused = !paused
		}
	}
}
