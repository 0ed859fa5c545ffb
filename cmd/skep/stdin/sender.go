package stdin

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// Sender streams a standard input to the one task of a job.
type Sender struct {
	Client *client.Client
	In     io.Reader

	begun atomic.Bool // somebody has read of it
}

// Read reads, and notes that the input can be sent to nobody else.
func (s *Sender) Read(b []byte) (int, error) {
	s.begun.Store(true)
	return s.In.Read(b)
}

// again is the pause before a node that did not answer is asked again.
const again = 200 * time.Millisecond

// Send streams the input until the node wants no more. It returns an error that the node stated, and that lasts: a
// connection that is lost before anything was read is made again, and what one means that is lost later the task's end
// says.
func (s *Sender) Send(ctx context.Context, id string) error {
	job, err := grid.ParseJobID(id)
	if err != nil {
		return err
	}
	for {
		_, err := s.Client.Stdin(ctx, job, s)
		var p *v1.Problem
		if errors.As(err, &p) && ctx.Err() == nil && (!p.Passes() || s.begun.Load()) {
			return p
		}
		if err == nil || s.begun.Load() {
			return nil
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return nil
		}
	}
}
