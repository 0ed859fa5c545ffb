//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"skep/exec/sandbox/zygote"
	"skep/exec/terminal"
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
	gone  bool // the forker has waited for the stub
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
	f := asked.Pod.forker()
	if f == nil {
		if f, err = s.current(); err != nil {
			return nil, err
		}
	}
	b = &Box{s: s, forker: f, started: make(chan error, 1), exited: make(chan struct{}), empty: make(chan struct{})}
	defer func() {
		if err != nil {
			if failed := (*StartError)(nil); b.group != nil && errors.As(err, &failed) && failed.Stage == zygote.StageCgroup {
				b.group.broken = true
			}
			if tty := b.Terminal(); tty != nil {
				tty.Close()
			}
			b.release()
			b = nil
		}
	}()
	spec := *asked
	if err := b.bound(&spec); err != nil {
		return b, err
	}
	if size := spec.Command.Terminal; size != nil && !s.Boxes() {
		ours, theirs, err := terminal.Open(spec.Command.UID, *size)
		if err != nil {
			return b, err
		}
		defer theirs.Close()
		b.more.terminal = ours
		spec.Command.Files = [3]int{int(theirs.Fd()), int(theirs.Fd()), int(theirs.Fd())}
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
		b.more.noUnix = q.head.Flags&zygote.FlagNoUnix != 0
		fds = append(fds, b.group.fds()...)
		secrets, err := q.secrets(spec.Secrets)
		if err != nil {
			return b, err
		}
		if secrets != nil {
			defer secrets.Close()
			fds = append(fds, int(secrets.Fd()))
		}
		shared, err := spec.Pod.join(q)
		if err != nil {
			return b, err
		}
		defer shared.close()
		fds = append(fds, shared.fds()...)
		fds = append(fds, int(theirs.Fd()))
	}
	q.command(&spec.Command)
	return b, b.begin(q, fds, theirs)
}

// describe tells the zygote what box to make.
func (s *Sandbox) describe(q *request, spec *Spec) {
	q.head.Work = q.text(zygote.Attempts + "/" + spec.Folder + "/work")
	q.head.Temp = q.text(zygote.Attempts + "/" + spec.Folder + "/tmp")
	if spec.Hosts != "" {
		q.head.Hosts = q.text(zygote.Attempts + "/" + spec.Folder + "/" + spec.Hosts)
	} else {
		q.head.Hosts = q.text("")
	}
	q.head.Shm = q.text(shmOptions(spec.Memory))
	q.head.Devices, q.head.DeviceCount = q.words(s.withheld(spec))
	if spec.Pod != nil {
		return
	}
	if spec.Network != grid.NetworkHost {
		q.head.Flags |= zygote.FlagNetwork
	} else if s.mode.landlock < landlockScopes {
		q.head.Flags |= zygote.FlagNoUnix // they could reach any abstract socket of the machine
	}
}

// withheld are the devices that a box does not get.
func (s *Sandbox) withheld(spec *Spec) (paths []string) {
	for _, d := range s.opts.Devices {
		if !slices.Contains(spec.Devices, d) {
			paths = append(paths, d)
		}
	}
	return paths
}

// begin sends the request and waits for what becomes of it.
func (b *Box) begin(q *request, fds []int, theirs *os.File) error {
	if err := b.forker.enter(b, q.head.Flags&zygote.FlagJoin != 0); err != nil {
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

// Terminal is the caller's end of the command's terminal, which Close does not close; nil if it has none.
func (b *Box) Terminal() *os.File {
	b.more.mu.Lock()
	defer b.more.mu.Unlock()
	return b.more.terminal
}

// Exited is closed when the command has ended; what it left behind has been sent SIGTERM.
func (b *Box) Exited() <-chan struct{} { return b.exited }

// Empty is closed when nothing of the command is left.
func (b *Box) Empty() <-chan struct{} { return b.empty }

func (b *Box) isOver() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over
}

// End is how it came to its end, as far as that is known: after Exited, and whole after Empty.
func (b *Box) End() End {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.left {
		return End{Broken: true}
	}
	return b.end
}
