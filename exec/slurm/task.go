package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"skep/exec/external"
	"skep/exec/process"
)

// Task is an order of which there is a job, or may be.
type Task struct {
	external.Task
	e        *Engine
	order    Order
	restored bool // by Former: whether it was ever submitted is not known

	// of the goroutine that watches
	claimed bool      // a step has claimed it
	gone    time.Time // since when its job has been over or not there, and its end neither
}

func (e *Engine) newTask(o Order) *Task {
	t := &Task{e: e, order: o}
	e.Bind(&t.Task, o.Key, e.nameOf(&o), o.Dir, o.Keep)
	return t
}

// submittedBefore reports whether a listing that began then has the job of the task, if there is one.
func (t *Task) submittedBefore(began time.Time) bool { return t.restored || t.HandedBefore(began) }

// printed is the end of what the batch job itself has printed, in a line: why a step could not begin, say.
func (t *Task) printed() string {
	f, err := external.OpenFile(filepath.Join(t.order.Dir, logFile))
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
		case <-r.t.Done():
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
		case <-r.t.Done():
		case <-r.ctx.Done():
			return 0, r.ctx.Err()
		}
	}
	return 0, nil
}

// more reads what there is beyond the offset. The file is opened each time: only then does a network file system look
// at how long it is.
func (r *tail) more(b []byte) (int, error) {
	f, err := external.OpenFile(r.path)
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
