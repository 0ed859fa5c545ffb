//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox/zygote"
)

// errNoBox is why a service of a box cannot be had.
var errNoBox = errors.New("the task has no box, or its box is gone")

// errLate is why a program counts as not started though nobody knows.
var errLate = errors.New("its program was not executed in time: the file system that it is on may hang")

// services are what a stub does besides keeping the command: one question at a time, and further commands.
type services struct {
	asking sync.Mutex // held while a question is under way

	mu       sync.Mutex
	over     bool
	numbers  uint64
	question uint64      // the number of the one under way
	answers  chan answer // to it
	commands map[uint64]*Second
	noUnix   bool     // commands of this box make no Unix sockets
	terminal *os.File // the end of its own command's terminal that is the caller's; nil = it has none
}

type answer struct {
	errno syscall.Errno
	files [sent]*os.File
}

// sent is how many files a stub sends at most.
const sent = 5

func (a *answer) fds() (fds []int) {
	for _, f := range a.files {
		if f != nil {
			fds = append(fds, int(f.Fd()))
		}
	}
	return fds
}

func (a *answer) close() {
	for _, f := range a.files {
		if f != nil {
			f.Close()
		}
	}
}

// askTime bounds how long a stub is waited for, startTime how long a program is. They wait for no task, but on a file
// system that hangs an exec takes as long as that does.
var askTime, startTime = 10 * time.Second, time.Minute

// secondBit tells the numbers of questions and further commands from those of boxes.
const secondBit = 1 << 63

// number returns a new one.
func (v *services) number() uint64 {
	v.numbers++
	return v.numbers | secondBit
}

// told takes a report that is not about the box's own command.
func (v *services) told(r *zygote.Report, files [sent]*os.File) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r.Kind == zygote.ReportAnswer {
		a := answer{syscall.Errno(r.Errno), files}
		if v.answers == nil || r.ID != v.question {
			a.close()
			return
		}
		v.answers <- a
		v.answers = nil
		return
	}
	c := v.commands[r.ID]
	if c == nil {
		return
	}
	switch r.Kind {
	case zygote.ReportStarted:
		c.Pid, c.begun = int(r.Pid), true
		c.started <- nil
	case zygote.ReportFailed:
		c.started <- &StartError{r.Stage, syscall.Errno(r.Errno)}
		delete(v.commands, r.ID)
	case zygote.ReportExited:
		c.end = End{Status: syscall.WaitStatus(r.Status), CPU: time.Duration(r.CPU) * time.Microsecond,
			MaxRSS: r.MaxRSS << 10}
		close(c.ended)
		delete(v.commands, r.ID)
	}
}

// end ends what waits for the stub.
func (v *services) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.over = true
	if v.answers != nil {
		close(v.answers)
		v.answers = nil
	}
	for _, c := range v.commands {
		if c.end.Broken = true; !c.begun {
			c.started <- errNoBox
		}
		close(c.ended)
	}
	v.commands = nil
}

// Signal sends a signal to all processes of the box, or without one to the command's process group.
func (b *Box) Signal(sig syscall.Signal) error { return b.signal(-1, sig) }

// SignalProcess sends a signal to one process of a box, by its ID in it. It does not wait: what has ended gets none.
func (b *Box) SignalProcess(pid int, sig syscall.Signal) error {
	if b.control == nil || pid < 2 {
		return errNoBox
	}
	return b.signal(pid, sig)
}

func (b *Box) signal(pid int, sig syscall.Signal) error {
	q := newRequest(zygote.OpSignal)
	q.head.Signal, q.head.Target = int32(sig), int32(pid)
	message, err := q.bytes(b.id)
	if err != nil {
		return err
	}
	if b.control != nil {
		return b.control.send(message, nil)
	}
	return b.forker.socket.send(message, nil)
}

// Stop stops all processes of the box, Continue lets them go on.
func (b *Box) Stop() error { return b.Signal(unix.SIGSTOP) }

// Continue is the inverse of Stop.
func (b *Box) Continue() error { return b.Signal(unix.SIGCONT) }

// Listen makes a listening TCP socket in the network of the box, with the queue of connections that backlog says.
func (b *Box) Listen(at netip.AddrPort, backlog int) (net.Listener, error) {
	q := newRequest(zygote.OpListen)
	q.head.Family, q.head.AddressLength = address(&q.head.Address, at)
	q.head.Backlog = uint32(backlog)
	a, err := b.ask(q, nil)
	if err != nil {
		return nil, err
	}
	defer a.close()
	if a.errno != 0 {
		return nil, fmt.Errorf("listen at %v in the box: %w", at, a.errno)
	}
	return net.FileListener(a.files[0])
}

// Look returns the box's /proc and /dev/shm, not to be read themselves but to open what is in them and to ask how
// full they are, and the lists of its System V shared memory, semaphores and message queues. In a pod all but proc is
// the pod's, and only the control groups tell whose what is in it is.
func (b *Box) Look() (proc, shm *os.File, ipc [3]*os.File, err error) {
	a, err := b.ask(newRequest(zygote.OpLook), nil)
	if err == nil && a.errno != 0 {
		a.close()
		err = fmt.Errorf("look into the box: %w", a.errno)
	}
	if err != nil {
		return nil, nil, ipc, err
	}
	return a.files[0], a.files[1], [3]*os.File(a.files[2:]), nil
}

// ask asks the stub, with copies of descriptors, and waits for its answer.
func (b *Box) ask(q *request, fds []int) (answer, error) {
	v := &b.more
	v.asking.Lock()
	defer v.asking.Unlock()
	answers := make(chan answer, 1)
	v.mu.Lock()
	if b.control == nil || v.over {
		v.mu.Unlock()
		return answer{}, errNoBox
	}
	id := v.number()
	v.question, v.answers = id, answers
	v.mu.Unlock()
	message, err := q.bytes(id)
	if err == nil {
		err = b.control.send(message, fds)
	}
	if err != nil {
		return answer{}, fmt.Errorf("ask the box: %w", err)
	}
	late := time.NewTimer(askTime)
	defer late.Stop()
	select {
	case a, ok := <-answers:
		if !ok {
			return answer{}, errNoBox
		}
		return a, nil
	case <-late.C:
	}
	v.mu.Lock()
	v.answers = nil // what comes later is closed
	v.mu.Unlock()
	select {
	case a := <-answers:
		a.close()
	default:
	}
	return answer{}, fmt.Errorf("ask the box: no answer in %v", askTime)
}
