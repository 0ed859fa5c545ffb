//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"sync"
	"time"

	"skep/exec/sandbox/zygote"
	"skep/grid"
)

// Box is a running command with all that belongs to it: the processes of its PID namespace, or, without boxes, its
// process group.
type Box struct {
	s       *Sandbox
	forker  *forker
	id      uint64
	control *socket // to the stub; nil without boxes
	group   *group  // nil = none
	kills   int64   // of the group for want of memory, before this box had it
	procs   int64   // that it may have
	pid     int     // of the command: in its box, or of the machine without one

	started chan error    // one value: nil, or why it did not start
	exited  chan struct{} // closed when the command has ended
	empty   chan struct{} // closed when nothing of it is left

	released sync.Once

	mu    sync.Mutex
	start beginning
	heard bool // the stub tells no more
	gone  bool // the zygote has waited for the stub
	left  bool // exited is closed
	over  bool // empty is closed
	end   End
	more  services
}

// beginning is what Start knows of the command.
type beginning uint8

const (
	awaited beginning = iota
	begun             // or failed: started has its value
	givenUp           // nobody waits for it any more
)

// Start makes a box and runs its command. It returns when the program has been executed; an error of type *StartError
// says how far that came.
func (s *Sandbox) Start(spec *Spec) (*Box, error) {
	if err := spec.Command.check(); err != nil {
		return nil, err
	}
	for {
		b, err := s.start(spec)
		if !errors.Is(err, errRetired) {
			return b, err
		}
	}
}

func (s *Sandbox) start(asked *Spec) (b *Box, err error) {
	f, err := s.current()
	if err != nil {
		return nil, err
	}
	b = &Box{s: s, forker: f, started: make(chan error, 1), exited: make(chan struct{}), empty: make(chan struct{})}
	defer func() {
		if err != nil {
			if failed := (*StartError)(nil); b.group != nil && errors.As(err, &failed) && failed.Stage == zygote.StageCgroup {
				b.group.broken = true
			}
			b.release()
			b = nil
		}
	}()
	spec := *asked
	if err := b.bound(&spec); err != nil {
		return b, err
	}
	q := newRequest(zygote.OpBare)
	q.head.Command.OOM = q.text("1000") // whoever runs out of memory, a task goes first
	fds := append(make([]int, 0, 8), spec.Command.Files[:]...)
	if spec.Command.program > 0 {
		q.head.Flags |= zygote.FlagExecFile
		fds = append(fds, spec.Command.program)
	}
	var theirs *os.File
	if s.Boxes() {
		if b.control, theirs, err = socketpair(); err != nil {
			return b, err
		}
		defer theirs.Close()
		q.head.Op = zygote.OpBox
		s.describe(q, &spec)
		fds = append(fds, b.group.fds()...)
		fds = append(fds, int(theirs.Fd()))
	}
	q.command(&spec.Command)
	return b, b.begin(q, fds, theirs)
}

// describe tells the zygote what box to make.
func (s *Sandbox) describe(q *request, spec *Spec) {
	q.head.Work = q.text(zygote.Attempts + "/" + spec.Folder + "/work")
	q.head.Temp = q.text(zygote.Attempts + "/" + spec.Folder + "/tmp")
	q.head.Shm = q.text(shmOptions(spec.Memory))
	if spec.Network == grid.NetworkNone {
		q.head.Flags |= zygote.FlagNetwork
	} else if s.mode.landlock < landlockScopes {
		q.head.Flags |= zygote.FlagNoUnix // they could reach any abstract socket of the machine
	}
}

// begin sends the request and waits for what becomes of it.
func (b *Box) begin(q *request, fds []int, theirs *os.File) error {
	if err := b.forker.enter(b); err != nil {
		return err
	}
	message, err := q.bytes(b.id)
	if err == nil {
		err = b.forker.socket.send(message, fds)
	}
	if err != nil {
		b.forker.leave(b)
		return err
	}
	if theirs != nil {
		theirs.Close() // or the end of the stub would not be seen
		go b.listen()
	}
	late := time.NewTimer(startTime)
	defer late.Stop()
	select {
	case err := <-b.started:
		return err
	case <-late.C:
	}
	if !b.giveUp() {
		return <-b.started
	}
	if b.control != nil {
		b.control.shut() // the stub ends with all that is in the box, as soon as the kernel lets it
	} else {
		b.forker.stuck.Store(true) // it has one thread for all
	}
	return errLate
}

// Pid is the command's process ID: in its box, or of the machine where there are none.
func (b *Box) Pid() int { return b.pid }

// Exited is closed when the command has ended; what it left behind has been sent SIGTERM.
func (b *Box) Exited() <-chan struct{} { return b.exited }

// Empty is closed when nothing of the command is left.
func (b *Box) Empty() <-chan struct{} { return b.empty }

// End is how it came to its end, as far as that is known: after Exited, and whole after Empty.
func (b *Box) End() End {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.left {
		return End{Broken: true}
	}
	return b.end
}
