package process

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// What a keeper waits for, all in one poll: the task's outputs, its end, and somebody's wish to stop it.
const (
	outFd = iota
	errFd
	pidFd
	wakeFd
)

const (
	copySize = 64 << 10
	period   = 40 * time.Millisecond // of Share
	never    = time.Duration(1<<63 - 1)

	// stuck is how long a killed group is waited for: a process may hang in the kernel.
	stuck = 2 * time.Second
)

var buffers = sync.Pool{New: func() any { return new([copySize]byte) }}

// follow is the life of a task after its start, seen from its keeper.
func (k *keeper) follow() {
	k.killAt, k.turnAt = never, never
	if k.p.spec.Share > 0 {
		k.turnAt = k.runFor()
	}
	for !k.dead && !k.exited() {
		k.act(k.age())
		k.wait(k.next() - k.age())
		k.copy(outFd)
		k.copy(errFd)
	}
	k.bury()
	if k.buf != nil {
		buffers.Put(k.buf)
	}
	k.close()
	k.r.host.watch.remove(k.p)
	k.r.finish(k.p)
}

func (k *keeper) age() time.Duration { return time.Since(k.p.result.Started) }

func (k *keeper) runFor() time.Duration {
	return time.Duration(k.p.spec.Share * float64(period))
}

// next is when something has to be done if nothing happens.
func (k *keeper) next() time.Duration {
	at := min(k.killAt, k.turnAt)
	if t := k.p.spec.Timeout; t > 0 && !k.stopped {
		at = min(at, t)
	}
	if k.fds[pidFd].Fd < 0 { // a kernel without pidfd: look for the end
		at = min(at, k.age()+10*time.Millisecond)
	}
	return at
}

// act does what is due.
func (k *keeper) act(now time.Duration) {
	p := k.p
	if !k.stopped {
		if t := p.spec.Timeout; t > 0 && now >= t {
			p.asked.CompareAndSwap(0, 1+int32(TimedOut))
		}
		if c := p.asked.Load(); c != 0 {
			k.stopped, k.why = true, Cause(c-1)
			k.killAt, k.turnAt = now+p.grace(k.why), never
			unix.Kill(-p.pid, unix.SIGTERM)
			unix.Kill(-p.pid, unix.SIGCONT) // a stopped process takes no SIGTERM
		}
	}
	if now >= k.killAt && !k.killed {
		k.killed, k.killAt = true, never
		unix.Kill(-p.pid, unix.SIGKILL)
	}
	if now >= k.turnAt {
		run := k.runFor()
		if k.paused {
			unix.Kill(-p.pid, unix.SIGCONT)
			k.turnAt = now + run
		} else {
			unix.Kill(-p.pid, unix.SIGSTOP)
			k.turnAt = now + period - run
		}
		k.paused = !k.paused
	}
}

// wait polls for at most d; never is for ever.
func (k *keeper) wait(d time.Duration) {
	for i := range k.fds {
		k.fds[i].Revents = 0
	}
	var limit *unix.Timespec
	if d < never/2 {
		ts := unix.NsecToTimespec(int64(max(d, 0)))
		limit = &ts
	}
	n, _ := unix.Ppoll(k.fds[:], limit, nil)
	if n > 0 && k.fds[wakeFd].Revents != 0 {
		var count [8]byte
		unix.Read(int(k.fds[wakeFd].Fd), count[:])
	}
}

// copy moves what is ready in one pipe to its file and closes the pipe at its end.
func (k *keeper) copy(i int) (n int) {
	fd := int(k.fds[i].Fd)
	if fd < 0 || k.fds[i].Revents == 0 {
		return 0
	}
	// Nothing in the pipe and no writer left: the usual end, for which no buffer is needed.
	if k.fds[i].Revents&unix.POLLIN != 0 {
		if k.buf == nil {
			k.buf = buffers.Get().(*[copySize]byte)
		}
		n, err := unix.Read(fd, k.buf[:])
		if n > 0 {
			k.p.out[i].write(k.buf[:n])
			return n
		}
		if err == unix.EINTR || err == unix.EAGAIN {
			return 0
		}
	}
	unix.Close(fd)
	k.fds[i].Fd = -1
	return 0
}

// exited says whether the main process has ended. It stays a zombie, so that its number, which is
// the group's too, cannot be another's.
func (k *keeper) exited() bool {
	if k.fds[pidFd].Fd >= 0 {
		return k.fds[pidFd].Revents != 0
	}
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, k.p.pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
}

// bury reaps the main process, ends what it left in its group, and takes the last of the output.
func (k *keeper) bury() {
	p := k.p
	if !k.dead {
		unix.Kill(-p.pid, unix.SIGTERM)
		ws, ru, err := wait4(p.pid)
		if err != nil {
			panic("process: a child that had ended could not be waited for: " + err.Error())
		}
		k.status = ws
		p.result.CPU = time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
		// The kernel counts the node's own size in, as that of the process before its exec; a figure
		// above it is the task's.
		if rss := int64(ru.Maxrss) << 10; rss > k.selfRSS {
			p.result.MaxRSS = rss
		}
		k.clear()
	}
	k.drain()
	p.settle(k.status, p.result.CPU, k.stopped, k.why)
}

// clear ends leftover processes of the group: they have had SIGTERM.
func (k *keeper) clear() {
	p := k.p
	if unix.Kill(-p.pid, 0) == unix.ESRCH {
		return // the usual case
	}
	unix.Kill(-p.pid, unix.SIGCONT)
	if fd := k.fds[pidFd].Fd; fd >= 0 { // from now on it would end each poll at once
		unix.Close(int(fd))
		k.fds[pidFd].Fd = -1
	}
	if k.killAt == never {
		k.killAt = k.age() + p.spec.Grace
	}
	end := k.killAt + stuck
	if k.killed {
		end = k.age() + stuck
	}
	for pause := time.Millisecond; groupAlive(p.pid) && k.age() < end; pause = min(2*pause, 50*time.Millisecond) {
		if k.age() >= k.killAt || k.killed {
			unix.Kill(-p.pid, unix.SIGKILL)
		}
		k.wait(min(pause, max(k.killAt-k.age(), time.Millisecond)))
		k.copy(outFd)
		k.copy(errFd)
	}
}

// drain takes what is left in the pipes. A process that has left the group may hold them open and go
// on writing: it is not waited for.
func (k *keeper) drain() {
	for end := k.age() + time.Second; k.age() < end; {
		if k.fds[outFd].Fd < 0 && k.fds[errFd].Fd < 0 {
			return
		}
		k.wait(0)
		if k.fds[outFd].Revents == 0 && k.fds[errFd].Revents == 0 {
			return
		}
		k.copy(outFd)
		k.copy(errFd)
	}
}
