//go:build amd64 || arm64

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"skep/exec/sandbox/zygote"
)

// forker is a zygote and the process that it forks to make boxes, seen from the node.
type forker struct {
	cmd    *exec.Cmd
	socket *socket
	dead   chan struct{} // closed when it is gone, and all its boxes with it
	stuck  atomic.Bool   // it waits for an exec without end: another takes its place

	mu      sync.Mutex
	last    uint64
	boxes   map[uint64]*Box
	retired bool // another makes the boxes from now on
}

// setUpError is what a zygote could not do, and why.
type setUpError struct {
	text string
	why  error // nil: the text says it
}

func (e *setUpError) Error() string { return e.text }
func (e *setUpError) Unwrap() error { return e.why }

// errRetired is why a zygote makes no further box: another does.
var errRetired = errors.New("the zygote is retired")

// setUpTime bounds how long a zygote is waited for that is set up, or that is to end: it takes some hundredths of a
// second, but on a file system that hangs as long as that does.
var setUpTime = 10 * time.Second

// patience is how many more times setUpTime a zygote is waited for that uses the processor meanwhile. Where many
// programs start at once it gets little of it: of 100 nodes that started on two cores 31 gave up after 10 s.
const patience = 11

// whileBusy repeats a wait that a deadline has ended, as long as used grows meanwhile: the processor time of the
// process that is waited for.
func whileBusy(wait func() error, used func() time.Duration) error {
	before := used()
	for range patience {
		err, now := wait(), used()
		if !errors.Is(err, os.ErrDeadlineExceeded) || now <= before {
			return err
		}
		before = now
	}
	return wait()
}

// processorTime is the time that a process has used; 0 if it is gone.
func processorTime(pid int) time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|2), &t) != nil { // its CLOCK_PROCESS_CPUTIME_ID: clock_getcpuclockid(3)
		return 0
	}
	return time.Duration(t.Nano())
}

// startForker starts a zygote and has it set up.
func startForker(s *zygote.Setup, attr *syscall.SysProcAttr) (*forker, error) {
	ours, theirs, err := socketpair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	f := &forker{socket: ours, dead: make(chan struct{}), boxes: make(map[uint64]*Box)}
	f.cmd = exec.Command("/proc/self/exe")
	f.cmd.Args, f.cmd.Env, f.cmd.Dir = []string{zygote.Name}, []string{"GOMAXPROCS=2", "GOTRACEBACK=none"}, "/"
	attr.Setsid = true // an interrupt at the node's terminal is not for it
	f.cmd.ExtraFiles, f.cmd.SysProcAttr = []*os.File{theirs}, attr
	if err := f.cmd.Start(); err != nil {
		ours.close()
		return nil, fmt.Errorf("start zygote: %w", err)
	}
	theirs.Close() // or its end would not be seen
	if err := f.setUp(s); err != nil {
		ours.close()
		f.cmd.Process.Kill()
		go f.cmd.Wait() // it may hang in the kernel
		return nil, err
	}
	go f.listen()
	return f, nil
}

func (f *forker) setUp(s *zygote.Setup) error {
	text, err := json.Marshal(s)
	if err == nil {
		err = f.socket.send(text, nil)
	}
	if err != nil {
		return fmt.Errorf("set up zygote: %w", err)
	}
	answer := make([]byte, 4096)
	n := 0
	err = whileBusy(func() (err error) {
		f.socket.file.SetReadDeadline(time.Now().Add(setUpTime))
		n, _, err = f.socket.receive(answer, nil)
		return err
	}, func() time.Duration { return processorTime(f.cmd.Process.Pid) })
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("set up zygote: no answer in %v: a file system that tasks are to see may hang", setUpTime)
	}
	if err != nil {
		return fmt.Errorf("set up zygote: %w", err)
	}
	f.socket.file.SetReadDeadline(time.Time{})
	var ready zygote.Ready
	if err := json.Unmarshal(answer[:n], &ready); err != nil {
		return fmt.Errorf("set up zygote: %w", err)
	}
	switch {
	case ready.Err == "":
		return nil
	case ready.Denied:
		return &setUpError{ready.Err, os.ErrPermission}
	case ready.Old:
		return &setUpError{ready.Err, unix.ENOSYS}
	}
	return &setUpError{ready.Err, nil}
}

// listen hands what the zygote tells to the boxes that it is about, until it is gone.
func (f *forker) listen() {
	for {
		var r zygote.Report
		n, _, err := f.socket.receive(unsafe.Slice((*byte)(unsafe.Pointer(&r)), unsafe.Sizeof(r)), nil)
		if err != nil || n != int(unsafe.Sizeof(r)) {
			break
		}
		f.mu.Lock()
		b := f.boxes[r.ID]
		if b != nil && (r.Kind == zygote.ReportGone || r.Kind == zygote.ReportFailed || r.Kind == zygote.ReportEmpty) {
			delete(f.boxes, r.ID)
		}
		over := f.retired && len(f.boxes) == 0
		f.mu.Unlock()
		if b != nil {
			b.told(&r)
		}
		if over {
			break
		}
	}
	f.socket.close()
	f.cmd.Process.Kill()
	f.cmd.Wait()
	f.mu.Lock()
	boxes := f.boxes
	f.boxes = nil
	f.mu.Unlock()
	close(f.dead)
	for _, b := range boxes {
		b.told(&zygote.Report{Kind: zygote.ReportGone, Status: uint32(unix.SIGKILL)})
	}
}

// enter gives a box its number. One that joins a pod is made by the zygote that made the pod, whose end that holds up.
func (f *forker) enter(b *Box, joins bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.retired && !joins {
		return errRetired
	}
	if f.boxes == nil {
		return errors.New("what forks its box has died")
	}
	f.last++
	b.id = f.last
	f.boxes[b.id] = b
	return nil
}

// leave takes back enter. The last box of a retired zygote ends it.
func (f *forker) leave(b *Box) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if delete(f.boxes, b.id); f.retired && len(f.boxes) == 0 {
		f.socket.shut()
	}
}

// retire ends the zygote with the last of its boxes.
func (f *forker) retire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.retired = true; len(f.boxes) == 0 {
		f.socket.shut()
	}
}

func (f *forker) alive() bool {
	select {
	case <-f.dead:
		return false
	default:
		return true
	}
}

// closeForkers ends zygotes with all their boxes. One of which a process hangs in the kernel ends when that does.
func closeForkers(all []*forker) {
	all = slices.DeleteFunc(all, func(f *forker) bool { return f == nil })
	for _, f := range all {
		f.socket.shut()
	}
	late := time.NewTimer(setUpTime)
	defer late.Stop()
	for _, f := range all {
		select {
		case <-f.dead:
		case <-late.C:
			return
		}
	}
}
