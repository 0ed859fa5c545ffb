package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"skep/exec/process"
	"skep/exec/terminal"
)

// Task is an order of which there is a job, or may be.
type Task struct {
	e        *Engine
	order    Order
	name     string // of its job
	restored bool   // by Former: whether it was ever submitted is not known

	// of the goroutine that watches
	claimed bool      // a step has claimed it
	gone    time.Time // since when its job has been over or not there, and its end neither

	mu     sync.Mutex
	since  time.Time     // when its job was submitted; zero = it is about to be
	asked  process.Cause // why it shall end; 0 = it need not
	why    string        // what is said about that
	orphan bool          // its folder is removed at its end
	over   bool          // it has ended
	said   func(string)  // may be nil
	last   string        // what was said

	done   chan struct{}
	result process.Result
	never  bool
}

func (e *Engine) newTask(o Order, said func(string)) *Task {
	return &Task{e: e, order: o, name: e.nameOf(&o), said: said, done: make(chan struct{})}
}

// Wait waits until the task has ended and its output is complete, and returns the result. Where the engine was closed
// before, that is of cause Broken.
func (t *Task) Wait() process.Result {
	<-t.done
	return t.result
}

// Never reports, after Wait, that the task has not run and will not, and that nobody has asked for that: its job was
// not there. It may be started again.
func (t *Task) Never() bool { return t.never }

// Dir is the folder of its attempt.
func (t *Task) Dir() string { return t.order.Dir }

// Keep is what the order was given to keep.
func (t *Task) Keep() []string { return t.order.Keep }

// Cancel has the task end, or never begin. It does not wait.
func (t *Task) Cancel() { t.ask(process.Cancelled, "cancelled") }

// Full ends the task, whose files have filled the disk; the result says why.
func (t *Task) Full(why string) { t.ask(process.DiskExceeded, why) }

func (t *Task) ask(c process.Cause, why string) {
	t.mu.Lock()
	if t.asked == 0 {
		t.asked, t.why = c, why
	}
	t.mu.Unlock()
	t.e.lookSoon()
}

// abandon has the task end and its folder be removed.
func (t *Task) abandon() {
	t.mu.Lock()
	t.orphan = true
	over := t.over
	t.mu.Unlock()
	if over {
		t.e.remove(t.order.Dir)
		return
	}
	t.Cancel()
}

func (t *Task) stopping() (process.Cause, string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asked, t.why
}

// Suspend does nothing: a node with this engine suspends no task.
func (t *Task) Suspend() {}

// Resume does nothing, as Suspend.
func (t *Task) Resume() {}

// Note does nothing: what the task prints is written elsewhere.
func (t *Task) Note(string) {}

// Type returns an error: there are no terminals.
func (t *Task) Type([]byte) error { return os.ErrClosed }

// Resize returns an error, as Type.
func (t *Task) Resize(terminal.Size) error { return os.ErrClosed }

// listen has said called with what Slurm says of the task from now on.
func (t *Task) listen(said func(string)) {
	t.mu.Lock()
	t.said = said
	last := t.last
	t.mu.Unlock()
	if last != "" && said != nil {
		said(last)
	}
}

// say passes on what Slurm says of the task, if that is news.
func (t *Task) say(text string) {
	t.mu.Lock()
	said, news := t.said, text != t.last
	t.last = text
	t.mu.Unlock()
	if news && said != nil {
		said(text)
	}
}

// finish publishes the result.
func (t *Task) finish(r process.Result) {
	if c, why := t.stopping(); c != 0 && r.Cause != process.TimedOut {
		r.Cause, r.Error = c, why
	}
	t.e.mu.Lock()
	delete(t.e.live, t.name)
	t.e.used += r.CPU
	t.e.mu.Unlock()
	t.result = r
	close(t.done)
	t.mu.Lock()
	t.over = true
	orphan := t.orphan
	t.mu.Unlock()
	if orphan {
		t.e.remove(t.order.Dir)
	}
}

// leave lets go of who waits for the task, which goes on.
func (t *Task) leave() {
	t.result = process.Result{Cause: process.Broken, Error: "the node was stopped"}
	close(t.done)
}

// submittedBefore reports whether a listing that began then has the job of the task, if there is one.
func (t *Task) submittedBefore(began time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.restored || !t.since.IsZero() && t.since.Before(began)
}

// printed is the end of what the batch job itself has printed, in a line: why a step could not begin, say.
func (t *Task) printed() string {
	f, err := open(filepath.Join(t.order.Dir, logFile))
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, 500)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		n, _ := f.ReadAt(b, max(info.Size()-int64(len(b)), 0))
		b = b[:n]
	}
	return oneLine(string(bytes.ToValidUTF8(b, nil)))
}

// tail reads a file that still grows, on another machine.
type tail struct {
	ctx    context.Context
	t      *Task
	path   string
	offset int64
}

// tailEvery is the time between two looks at whether an output has grown that somebody follows.
const tailEvery = 250 * time.Millisecond

// Tail reads one output of the task from offset, waits for more at its end, and reports io.EOF once the task has ended
// and all was read.
func (t *Task) Tail(ctx context.Context, s process.Stream, offset int64) (io.ReadCloser, error) {
	if offset < 0 {
		return nil, fmt.Errorf("slurm: follow output from %d", offset)
	}
	return &tail{ctx: ctx, t: t, path: process.Output(t.order.Dir, s&1), offset: offset}, nil
}

func (r *tail) Read(b []byte) (int, error) {
	for len(b) > 0 {
		over := false
		select {
		case <-r.t.done:
			over = true
		default:
		}
		n, err := r.more(b)
		switch {
		case n > 0 || err != nil:
			return n, err
		case over:
			return 0, io.EOF
		}
		select {
		case <-time.After(tailEvery):
		case <-r.t.done:
		case <-r.ctx.Done():
			return 0, r.ctx.Err()
		}
	}
	return 0, nil
}

// more reads what there is beyond the offset. The file is opened each time: only then does a network file system look
// at how long it is.
func (r *tail) more(b []byte) (int, error) {
	f, err := open(r.path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("slurm: follow output: %w", err)
	}
	defer f.Close()
	n, err := f.ReadAt(b, r.offset)
	r.offset += int64(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (r *tail) Close() error { return nil }
