//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"skep/exec/sandbox/zygote"
)

// Second is a further command in a box.
type Second struct {
	Pid      int
	Terminal *os.File // the caller's end of its terminal, and the caller's to close; nil = it has none

	of      *Box
	id      uint64
	bare    *Box // it, where there are no boxes
	started chan error
	ended   chan struct{}
	begun   bool
	end     End
}

// Done is closed when the command has ended. What it left in its process group has been sent SIGTERM.
func (c *Second) Done() <-chan struct{} {
	if c.bare != nil {
		return c.bare.Exited()
	}
	return c.ended
}

// End is how it came to its end. It is broken if the box ended first.
func (c *Second) End() End {
	<-c.Done()
	if c.bare != nil {
		return c.bare.End()
	}
	return c.end
}

// Signal sends a signal to the command's process group, until the command has ended.
func (c *Second) Signal(sig syscall.Signal) error {
	if c.bare != nil {
		return c.bare.Signal(sig)
	}
	q := newRequest(zygote.OpSignalRun)
	q.head.Signal = int32(sig)
	message, err := q.bytes(c.id)
	if err != nil {
		return err
	}
	return c.of.control.send(message, nil)
}

// Run runs a further command in the box, with the bounds of the box's own. It ends with that at the latest. Without
// boxes it is a process group of its own, and the caller ends it.
func (b *Box) Run(c *Command) (*Second, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	own := *c
	b.limitProcesses(&own)
	if b.control == nil {
		return b.runBare(&own)
	}
	if own.Terminal != nil {
		ours, theirs, err := b.openTerminal(&own)
		if err != nil {
			return nil, err
		}
		defer theirs.Close()
		own.Files = [3]int{int(theirs.Fd()), int(theirs.Fd()), int(theirs.Fd())}
		second, err := b.run(&own)
		if err != nil {
			ours.Close()
			return nil, err
		}
		second.Terminal = ours
		return second, nil
	}
	return b.run(&own)
}

func (b *Box) runBare(c *Command) (*Second, error) {
	if b.isOver() {
		return nil, errNoBox
	}
	bare, err := b.s.Start(&Spec{Command: *c})
	if err != nil {
		return nil, err
	}
	go func() {
		<-bare.Empty()
		bare.Close()
	}()
	return &Second{Pid: bare.Pid(), Terminal: bare.Terminal(), bare: bare}, nil
}

// openTerminal makes a terminal in the box.
func (b *Box) openTerminal(c *Command) (ours, theirs *os.File, err error) {
	q := newRequest(zygote.OpTerminal)
	q.command(&Command{UID: c.UID, GID: c.GID, Terminal: c.Terminal})
	a, err := b.ask(q, nil)
	if err != nil {
		return nil, nil, err
	}
	if a.errno != 0 {
		a.close()
		return nil, nil, fmt.Errorf("make a terminal in the box: %w", a.errno)
	}
	return a.files[0], a.files[1], nil
}

func (b *Box) run(c *Command) (*Second, error) {
	q := newRequest(zygote.OpRun)
	q.command(c)
	if b.more.noUnix {
		q.head.Flags |= zygote.FlagNoUnix
	}
	v := &b.more
	second := &Second{of: b, started: make(chan error, 1), ended: make(chan struct{})}
	v.mu.Lock()
	if v.over {
		v.mu.Unlock()
		return nil, errNoBox
	}
	id := v.number()
	if v.commands == nil {
		v.commands = make(map[uint64]*Second)
	}
	v.commands[id], second.id = second, id
	v.mu.Unlock()
	message, err := q.bytes(id)
	if err == nil {
		err = b.control.send(message, c.Files[:])
	}
	if err != nil {
		v.mu.Lock()
		delete(v.commands, id)
		v.mu.Unlock()
		return nil, fmt.Errorf("run in the box: %w", err)
	}
	late := time.NewTimer(startTime)
	defer late.Stop()
	select {
	case err = <-second.started:
	case <-late.C:
		err = errLate
		go func() { // nobody would watch it
			if <-second.started == nil {
				second.Signal(syscall.SIGKILL)
			}
		}()
	}
	if err != nil {
		return nil, err
	}
	return second, nil
}
