package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"skep/exec/external"
	"skep/exec/process"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

func kindOf(s process.Stream) v1.FrameKind {
	if s == process.Stderr {
		return v1.FrameStderr
	}
	return v1.FrameStdout
}

// stream reads one output of a job's only task, as the child has it now or, to follow it, until the task has ended.
type stream struct {
	ctx    context.Context
	api    *client.Client
	id     string
	kind   v1.FrameKind
	follow bool
	offset int64

	from *client.Stream // nil = not open
	rest []byte
	end  bool
}

// Read reports io.EOF when the task has ended, or what there is was read. After any other error it goes on where it
// was.
func (r *stream) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.end {
			return 0, io.EOF
		}
		if err := r.next(); err != nil {
			r.Close()
			return 0, err
		}
	}
	n := copy(b, r.rest)
	r.rest, r.offset = r.rest[n:], r.offset+int64(n)
	return n, nil
}

func (r *stream) next() (err error) {
	if r.from == nil {
		if r.from, err = r.api.Logs(r.ctx, r.id, 0, r.follow, r.offset); err != nil {
			return err
		}
	}
	f, ev, err := r.from.Next()
	switch {
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF // a whole answer ends with an event
	case err != nil:
		return err
	case ev == nil && f.Kind == r.kind:
		r.rest = f.Data
	case ev != nil && ev.Event == v1.EventTask:
		r.end = true
	case ev != nil && ev.Event == v1.EventError:
		return fmt.Errorf("the child grid: %s", ev.Error)
	}
	return nil
}

// Close ends the request.
func (r *stream) Close() error {
	if r.from == nil {
		return nil
	}
	err := r.from.Close()
	r.from, r.rest = nil, nil
	return err
}

// againAfter is the time between two tries to follow an output that broke off, or that is not there yet.
const againAfter = time.Second

// tail follows an output over all interruptions: in the child while the task goes on, and here once it has ended.
type tail struct {
	t      *Task
	stream process.Stream
	there  *stream
}

// Tail reads one output of the task from offset, waits for more at its end, and reports io.EOF once the task has ended
// and all was read.
func (t *Task) Tail(ctx context.Context, s process.Stream, offset int64) (io.ReadCloser, error) {
	if offset < 0 {
		return nil, fmt.Errorf("child grid: follow output from %d", offset)
	}
	return &tail{t: t, stream: s & 1, there: &stream{ctx: ctx, api: t.e.o.API, id: t.order.ID, kind: kindOf(s & 1),
		follow: true, offset: offset}}, nil
}

// Read reads what comes.
func (r *tail) Read(b []byte) (int, error) {
	for {
		select {
		case <-r.t.Done():
			return r.here(b)
		default:
		}
		n, err := r.there.Read(b)
		if n > 0 {
			return n, nil
		}
		if err := r.there.ctx.Err(); err != nil {
			return 0, err
		}
		pause := time.After(againAfter)
		if errors.Is(err, io.EOF) { // its result comes
			pause = nil
		}
		select {
		case <-pause:
		case <-r.t.Done():
		case <-r.there.ctx.Done():
			return 0, r.there.ctx.Err()
		}
	}
}

// here reads what was fetched of a task that has ended.
func (r *tail) here(b []byte) (int, error) {
	f, err := external.OpenFile(process.Output(r.t.Dir(), r.stream))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, io.EOF
	}
	if err != nil {
		return 0, fmt.Errorf("child grid: follow output: %w", err)
	}
	defer f.Close()
	n, err := f.ReadAt(b, r.there.offset)
	r.there.offset += int64(n)
	return n, err
}

// Close ends it.
func (r *tail) Close() error { return r.there.Close() }
