//go:build unix && !(linux && (amd64 || arm64))

package process

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox"
	"skep/exec/suspend"
	"skep/exec/terminal"
)

// Terminals says that tasks have no terminals here.
const Terminals = false

// launch starts p in a process group of its own. Memory, MaxFile, MaxProcs and Network are not enforced here, and a
// killed node leaves its tasks behind.
func (r *Runner) launch(p *Process, path string, env []string) error {
	if p.spec.Terminal != nil {
		return errors.New("process: only nodes on Linux have terminals for tasks")
	}
	var read, write [2]*os.File
	for i := range read {
		var err error
		if read[i], write[i], err = os.Pipe(); err != nil {
			closeAll(append(read[:], write[:]...))
			return fmt.Errorf("process: start %s: make pipe: %w", p.spec.Argv[0], err)
		}
	}
	attr := syscall.ProcAttr{
		Dir: r.start(&p.spec), Env: env,
		Files: []uintptr{uintptr(r.stdin(&p.spec)), write[0].Fd(), write[1].Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	p.result.Started = time.Now()
	pid, err := syscall.ForkExec(path, p.spec.Argv, &attr)
	closeAll(write[:])
	if err != nil {
		closeAll(read[:])
		return r.execError(&p.spec, path, err)
	}
	p.pid, p.members = pid, suspend.Group(pid)
	if nice := r.nicenessOf(&p.spec); nice > 0 {
		unix.Setpriority(unix.PRIO_PROCESS, pid, nice)
	}
	g := &processGroup{pid: pid, exited: make(chan struct{}), empty: make(chan struct{})}
	go g.wait()
	r.watch.add(p, g)
	p.keep(r, g, read)
	return nil
}

// processGroup is a task and what it has started, as far as that has stayed in its process group.
type processGroup struct {
	pid           int
	exited, empty chan struct{}

	mu  sync.Mutex
	end sandbox.End
}

// wait waits for the task, and then for its group.
func (g *processGroup) wait() {
	var status unix.WaitStatus
	var used unix.Rusage
	for {
		if _, err := unix.Wait4(g.pid, &status, 0, &used); err != unix.EINTR {
			break
		}
	}
	unix.Kill(-g.pid, unix.SIGTERM)
	unix.Kill(-g.pid, unix.SIGCONT)
	g.mu.Lock()
	g.end = sandbox.End{Status: syscall.WaitStatus(status), CPU: time.Duration(used.Utime.Nano() + used.Stime.Nano())}
	g.mu.Unlock()
	close(g.exited)
	for pause := time.Millisecond; unix.Kill(-g.pid, 0) != unix.ESRCH; pause = min(2*pause, 50*time.Millisecond) {
		time.Sleep(pause)
	}
	close(g.empty)
}

// second runs no further command here.
func (r *Runner) second(group, *Spec, string, []string, *terminal.Size) (*Further, error) {
	return nil, errors.New("only nodes on Linux run further commands beside a task")
}

func (g *processGroup) Signal(s syscall.Signal) error { return unix.Kill(-g.pid, s) }
func (g *processGroup) Exited() <-chan struct{}       { return g.exited }
func (g *processGroup) Empty() <-chan struct{}        { return g.empty }
func (g *processGroup) Close()                        {}

func (g *processGroup) End() sandbox.End {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.end
}

// Unlinked is known where there are boxes.
func (r *Runner) Unlinked(*Process) int64 { return 0 }

// Written is not known here.
func (r *Runner) Written(*Process) (int64, bool) { return 0, false }
