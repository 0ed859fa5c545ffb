package process

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// keeper is the thread of one task: it starts it, follows it and buries it. Its fields belong to the
// thread once that runs.
type keeper struct {
	r     *Runner
	p     *Process
	path  string
	env   []string
	ready chan error

	rules int    // Landlock ruleset, -1 if none
	pipes [2]int // the task's ends of its output
	fds   [4]unix.PollFd
	buf   *[copySize]byte

	traced         bool  // stopped at its exec
	selfRSS        int64 // the node's own largest size when it forked
	dead           bool  // has ended before it ran
	status         syscall.WaitStatus
	stopped        bool // asked to end, for the reason why
	why            Cause
	killed         bool
	paused         bool          // by Share
	killAt, turnAt time.Duration // since the start; turnAt: the next pause or its end
}

// launch starts p on a thread of its own and returns when its program has been executed.
func (r *Runner) launch(p *Process, path string, env []string) error {
	k := &keeper{r: r, p: p, path: path, env: env, ready: make(chan error, 1), rules: -1}
	r.host.watch.enter(p.spec.Dir)
	if err := k.open(); err != nil {
		k.close()
		return fmt.Errorf("process: start %s: %w", p.spec.Argv[0], err)
	}
	onThread(k.run)
	return <-k.ready
}

// onThread calls f on a thread that ends with it [6]. The main thread cannot end, so it is avoided.
func onThread(f func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != os.Getpid() {
			f()
			return
		}
		held := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(held)
			f()
		}()
		<-held
		runtime.UnlockOSThread()
	}()
}

// open makes the descriptors that need no confined thread.
func (k *keeper) open() (err error) {
	k.pipes = [2]int{-1, -1}
	for i := range k.fds {
		k.fds[i] = unix.PollFd{Fd: -1, Events: unix.POLLIN}
	}
	for i := range k.pipes {
		var pipe [2]int
		if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
			return fmt.Errorf("make pipe: %w", err)
		}
		k.fds[i].Fd, k.pipes[i] = int32(pipe[0]), pipe[1]
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return fmt.Errorf("make eventfd: %w", err)
	}
	k.fds[wakeFd].Fd = int32(wake)
	k.rules, err = k.r.host.ruleset(&k.p.spec)
	return err
}

// close closes what is still open, once, at whatever stage the task has come to.
func (k *keeper) close() {
	k.closeStart()
	k.p.mu.Lock()
	k.p.wake = nil
	k.p.mu.Unlock()
	for i := range k.fds {
		if k.fds[i].Fd >= 0 {
			unix.Close(int(k.fds[i].Fd))
			k.fds[i].Fd = -1
		}
	}
	k.r.host.watch.leave(k.p.spec.Dir)
}

func (k *keeper) closeStart() {
	for i, fd := range k.pipes {
		if fd >= 0 {
			unix.Close(fd)
			k.pipes[i] = -1
		}
	}
	if k.rules >= 0 {
		unix.Close(k.rules)
		k.rules = -1
	}
}

func (k *keeper) run() {
	err := k.start()
	k.closeStart() // else the pipes would never end
	if err != nil {
		k.close()
		var no *ExecError
		if !errors.As(err, &no) {
			err = fmt.Errorf("process: start %s: %w", k.p.spec.Argv[0], err)
		}
		k.ready <- err
		return
	}
	k.ready <- nil
	k.follow()
}

// start confines this thread, forks the task from it, sets its limits and lets it go.
func (k *keeper) start() error {
	p := k.p
	moved, err := k.confine()
	if err != nil {
		return err
	}
	p.result.Started = time.Now()
	if err := k.fork(moved); err != nil {
		return err
	}
	var self unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &self) == nil {
		k.selfRSS = int64(self.Maxrss) << 10
	}
	if err := k.release(); err != nil {
		unix.Kill(-p.pid, unix.SIGKILL)
		wait4(p.pid)
		return err
	}
	wake := int(k.fds[wakeFd].Fd)
	p.mu.Lock()
	p.wake = func() { unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }
	p.mu.Unlock()
	k.r.host.watch.add(p)
	return nil
}

// busyText bounds how long an exec is repeated that finds its program open for writing: another
// thread of the node that forks just then holds a copy of the descriptor until its own exec.
const busyText = 200 * time.Millisecond

func (k *keeper) fork(moved bool) error {
	p := k.p
	pidfd := -1
	attr := syscall.ProcAttr{
		Env:   k.env,
		Files: []uintptr{uintptr(k.r.null), uintptr(k.pipes[0]), uintptr(k.pipes[1])},
		Sys: &syscall.SysProcAttr{
			Setsid:    true, // a group of its own, and no terminal of the node's owner
			Pdeathsig: syscall.SIGKILL,
			Ptrace:    !k.r.host.untraced.Load(),
			PidFD:     &pidfd,
		},
	}
	if u := k.r.user; u != nil {
		attr.Sys.Credential = &syscall.Credential{Uid: u.uid, Gid: u.gid}
	}
	if !moved {
		attr.Dir = Work(p.spec.Dir)
	}
	for pause := time.Millisecond; ; pause *= 2 {
		pid, err := syscall.ForkExec(k.path, p.spec.Argv, &attr)
		switch {
		case err == nil:
			p.pid, k.fds[pidFd].Fd = pid, int32(pidfd)
			if k.traced = attr.Sys.Ptrace; !k.traced {
				k.r.host.untraced.Store(true)
			}
			return nil
		case err == syscall.ETXTBSY && pause < busyText:
			time.Sleep(pause)
		case err == syscall.EPERM && attr.Sys.Ptrace:
			attr.Sys.Ptrace = false // tracing may be what is not permitted here
		default:
			return execError(p.spec.Argv[0], k.path, err)
		}
	}
}

// release sets the limits of the child, which is stopped at its exec, and lets it run [3]. Where
// tracing is not permitted the child runs already and the limits come a moment late.
func (k *keeper) release() error {
	if k.traced {
		ws, _, err := wait4(k.p.pid)
		if err != nil {
			return fmt.Errorf("wait for exec: %w", err)
		}
		if !ws.Stopped() { // somebody killed it: that is a result, not an error
			k.dead, k.status = true, ws
			return nil
		}
	}
	limit := func() error { return setLimits(k.p.pid, &k.p.spec) }
	if u := k.r.user; u != nil {
		if err := u.as(limit); err != nil {
			return err
		}
	} else if err := limit(); err != nil {
		return err
	}
	if k.traced {
		if err := unix.PtraceDetach(k.p.pid); err != nil && err != unix.ESRCH {
			return fmt.Errorf("let task go: %w", err)
		}
	}
	return nil
}

func wait4(pid int) (ws syscall.WaitStatus, ru syscall.Rusage, err error) {
	for {
		if _, err = syscall.Wait4(pid, &ws, 0, &ru); err != syscall.EINTR {
			return ws, ru, err
		}
	}
}
