package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"skep/cmd/skep/progress"
	"skep/cmd/skep/stdin"
	"skep/cmd/skep/terminal"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// reconnectTimeout is how long a run waits for its node to come back before it gives up.
const reconnectTimeout = 30 * time.Second

// running is a job that is followed to its end. When its node goes away and comes back, the same submission is
// repeated, which is the same job, and output that was printed is not printed twice.
type running struct {
	taskReporter
	line       *progress.Display
	c          *client.Client
	id         string
	spec       *v1.Spec
	state      atomic.Int32 // preparing, requested, answered or interrupted
	stop       context.CancelCauseFunc
	cancelDone chan struct{} // closed when an interrupt has cancelled the job, or failed to
	job        atomic.Pointer[string]
	printed    map[uint32]*[2]int64 // bytes of stdout and stderr, by task
	exit       int32
	input      *stdin.Sender      // of its standard input; nil = nothing is streamed
	tty        *terminal.Terminal // that its task has; nil = none
}

// takeStdin adds the standard input to the job: one that is kept for all tasks is uploaded.
func (r *running) takeStdin(ctx context.Context, mode string, in *os.File) error {
	if r.tty != nil {
		r.takeTerminal()
		return nil
	}
	if mode == stdin.One {
		r.input, r.spec.Stdin = &stdin.Sender{Client: r.c, In: in}, &v1.Stdin{Stream: true}
		r.spec.Retries = new(int32)
	}
	if mode != stdin.Each {
		return nil
	}
	name, err := stdin.Keep(ctx, in, int64(maxInputs))
	if err != nil {
		return err
	}
	defer os.Remove(name)
	r.spec.Stdin, err = uploadStdin(ctx, r.c, name, r.line)
	return err
}

// takeTerminal adds the terminal to the job. It is taken when the task runs, until when an interrupt cancels the job.
func (r *running) takeTerminal() {
	size := r.tty.Size()
	r.input = &stdin.Sender{Client: r.c, In: r.tty.Keys()}
	r.out = r.tty.Screen(r.out)
	r.spec.Stdin = &v1.Stdin{Stream: true, Terminal: &v1.Terminal{Rows: size.Rows, Cols: size.Cols}}
	r.spec.Retries = new(int32)
	if r.spec.Env == nil {
		r.spec.Env = map[string]string{}
	}
	if _, set := r.spec.Env["TERM"]; !set {
		r.spec.Env["TERM"] = os.Getenv("TERM")
	}
}

// sendStdin begins to stream the standard input of the job, if it has one.
func (r *running) sendStdin(id string) {
	if r.input == nil {
		return
	}
	go func() {
		if err := r.input.Send(context.Background(), id); err != nil { // this program's end breaks it off
			fmt.Fprintln(r.err, "skep:", err)
		}
	}()
}

// ref returns the job's ID.
func (r *running) ref() string {
	if id := r.job.Load(); id != nil {
		return *id
	}
	return r.id
}

// errEnd is the end of a stream.
var errEnd = errors.New("over")

// follow submits the job, prints its output, and returns its exit code.
func (r *running) follow(ctx context.Context) (int32, error) {
	var away outage
	for {
		began := time.Now()
		err := r.followOnce(ctx)
		switch {
		case errors.Is(err, errEnd):
			return r.exit, nil
		case errors.Is(err, syscall.EPIPE): // the reader of the output, such as head, is done
			r.cancel()
			return 0, &exitError{code: 128 + int(syscall.SIGPIPE)}
		}
		var p *v1.Problem
		said := errors.As(err, &p)
		if said && !(p.Passes() && r.job.Load() != nil) || ctx.Err() != nil {
			return 0, err
		}
		if r.job.Load() == nil {
			return 0, r.maybeSubmitted(err)
		}
		first, long := away.record(began, time.Now())
		switch {
		case first:
			r.tty.Restore()
			fmt.Fprintf(r.err, "skep: lost the node (%v), trying again\n", err)
		case long:
			return 0, fmt.Errorf("job %s: the node did not come back: %w; ask again with: skep job wait %s", r.ref(), err,
				r.ref())
		}
		select {
		case <-time.After(away.wait):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// outage is the time since which a node has been unreachable, and the wait before the next attempt.
type outage struct {
	since time.Time
	wait  time.Duration
}

// record records an attempt to follow a job, from its beginning to its end, and reports whether an outage begins with
// it, and whether it has lasted too long. After an attempt longer than reconnectTimeout a new outage begins.
func (o *outage) record(began, ended time.Time) (first, long bool) {
	if o.since.IsZero() || ended.Sub(began) > reconnectTimeout {
		o.since, o.wait = ended, 50*time.Millisecond
		return true, false
	}
	o.wait = min(2*o.wait, 2*time.Second)
	return false, ended.Sub(o.since) > reconnectTimeout
}

// followOnce follows one stream to its end.
func (r *running) followOnce(ctx context.Context) error {
	s, err := r.c.Run(ctx, r.id, r.spec, r.line.Interval() > 0)
	if err != nil {
		return err
	}
	defer s.Close()
	seen := map[uint32]*[2]int64{}
	r.cancelled = 0
	for {
		f, e, err := s.Next()
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		switch {
		case f.Kind == v1.FrameStdout:
			err = r.print(r.out, f, seen, 0)
		case f.Kind == v1.FrameStderr:
			err = r.print(r.err, f, seen, 1)
		case e != nil:
			err = r.event(e)
		}
		if err != nil {
			return err
		}
	}
}

// print prints the part of a frame that was not printed yet.
func (r *running) print(w io.Writer, f v1.Frame, seen map[uint32]*[2]int64, i int) error {
	at, done := counter(seen, f.Task), counter(r.printed, f.Task)
	from := min(max(done[i]-at[i], 0), int64(len(f.Data)))
	at[i] += int64(len(f.Data))
	done[i] = max(done[i], at[i])
	if _, err := w.Write(f.Data[from:]); errors.Is(err, syscall.EPIPE) {
		return err
	} else if err != nil {
		return &v1.Problem{Detail: "cannot print: " + err.Error() + "; the job goes on: see skep job logs " + r.ref()}
	}
	return nil
}

func counter(m map[uint32]*[2]int64, task uint32) *[2]int64 {
	c := m[task]
	if c == nil {
		c = new([2]int64)
		m[task] = c
	}
	return c
}

func (r *running) event(e *v1.Event) error {
	switch e.Event {
	case v1.EventSubmitted:
		if e.Job != nil {
			if r.job.Swap(&e.Job.ID) == nil {
				r.printNote(e.Job)
				r.sendStdin(e.Job.ID)
			}
		}
	case v1.EventTask:
		if e.Task != nil && e.Task.Result != nil {
			r.tty.Restore()
			r.exit = max(r.exit, e.Task.Result.Exit)
			r.reportFailures(e.Task)
			r.report(e)
		}
	case v1.EventProgress:
		if e.Job != nil {
			r.line.Show(progress.OfJob(e.Job, e.Task))
		}
	case v1.EventError:
		return errors.New(e.Error)
	case v1.EventEnd:
		r.flush()
		return errEnd
	}
	return nil
}
