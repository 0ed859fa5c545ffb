//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"time"

	"skep/exec/sandbox/zygote"
)

// Second is a further command in a box.
type Second struct {
	Pid     int
	started chan error
	ended   chan struct{}
	begun   bool
	end     End
}

// Done is closed when the command has ended.
func (c *Second) Done() <-chan struct{} { return c.ended }

// End is how it came to its end. It is broken if the box ended first.
func (c *Second) End() End {
	<-c.ended
	return c.end
}

// Run runs a further command in the box. It ends with the box's own command at the latest.
func (b *Box) Run(c *Command) (*Second, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	q := newRequest(zygote.OpRun)
	q.command(c)
	v := &b.more
	second := &Second{started: make(chan error, 1), ended: make(chan struct{})}
	v.mu.Lock()
	if b.control == nil || v.over {
		v.mu.Unlock()
		return nil, errNoBox
	}
	id := v.number()
	if v.commands == nil {
		v.commands = make(map[uint64]*Second)
	}
	v.commands[id] = second
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
	}
	if err != nil {
		return nil, err
	}
	return second, nil
}
