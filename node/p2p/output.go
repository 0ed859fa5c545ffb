package p2p

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"skep/exec/process"
	"skep/grid"
	"skep/node"
)

// streamDelay is how long a task runs before a stream for its output is opened: a shorter one's output arrives with
// its result.
const streamDelay = 20 * time.Millisecond

// stoppedTime bounds how long a node is asked for the output of a task that was cancelled.
const stoppedTime = 10 * time.Second

// viewer is the part of a node that Output needs.
type viewer interface {
	Task(grid.TaskID) (node.TaskView, bool)
	Job(grid.JobID) (node.JobView, bool)
}

// errLost reports that a task's last attempt was lost and the next one has not started, so its output is unknown.
var errLost = errors.New("its last attempt is lost, and the next one has not begun")

// Output writes the output of a task of an own job, from a byte offset on, to w: from its result, or from the node
// that runs it. With follow it waits for more and returns when the task has ended; if an attempt is lost, it
// continues with the next one at the same offset, or from the start if that one printed something else. Without
// follow it returns an error, a grid.NodeError, if the node that runs the task cannot be asked; a task that has not
// started has printed nothing.
func (d *Driver) Output(ctx context.Context, w io.Writer, t grid.TaskID, stderr bool, offset int64, follow bool) error {
	f := &outputFollower{d: d, w: w, task: t, stream: process.Stdout, start: offset, offset: offset, follow: follow,
		sum: sha256.New()}
	if stderr {
		f.stream = process.Stderr
	}
	ch, stop := d.Watch(t.Job)
	defer stop()
	f.changed = ch
	return f.run(ctx)
}

// outputFollower is one call of Output.
type outputFollower struct {
	d         *Driver
	w         io.Writer
	task      grid.TaskID
	stream    process.Stream
	start     int64        // offset asked for
	offset    int64        // offset reached
	sum       hash.Hash    // of what was written, start to offset
	writtenBy grid.Attempt // the attempt that was written from
	follow    bool
	changed   <-chan struct{}
	members   []grid.NodeID // of the job's register; immutable

	attempt     grid.Attempt // being run, as far as is known
	since       time.Time    // when that was first seen
	streamEnded bool         // its stream has ended or failed
}

func (f *outputFollower) run(ctx context.Context) error {
	for {
		v, err := f.taskView(ctx)
		if err != nil {
			return err
		}
		if v.State == grid.Ended {
			return f.writeResult(ctx, &v)
		}
		wait := time.Hour
		if v.State == grid.Placed {
			if f.attempt != v.ID.Attempt || f.since.IsZero() {
				f.attempt, f.since, f.streamEnded = v.ID.Attempt, time.Now(), false
			}
			if wait = streamDelay - time.Since(f.since); wait <= 0 || !f.follow {
				if !f.streamEnded {
					err := f.live(ctx, v.Worker)
					if errors.Is(err, errMoved) {
						continue
					}
					if !f.follow {
						return nodeError(v.Worker, err)
					}
				}
				wait = time.Second // wait for the result, or try again
				f.streamEnded = !f.streamEnded
			}
		}
		if !f.follow {
			if failed := len(v.Failures); v.LastFailed != nil && failed > 0 {
				v.Result, v.ID.Attempt, v.Worker = v.LastFailed, v.Failures[failed-1].Attempt, v.Failures[failed-1].Worker
				return f.writeResult(ctx, &v)
			}
			if v.Lost > 0 {
				return nodeError(v.Worker, errLost)
			}
			return nil
		}
		select {
		case <-f.changed:
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// nodeError wraps an error with the node it is about, if that is known.
func nodeError(n grid.NodeID, err error) error {
	if err == nil || n.IsZero() {
		return err
	}
	return &grid.NodeError{Node: n, Err: err}
}

func (f *outputFollower) taskView(ctx context.Context) (v node.TaskView, err error) {
	found := false
	err = f.d.inbox.Read(ctx, func(grid.Time) {
		if n, ok := f.d.node.(viewer); ok {
			v, found = n.Task(f.task)
			j, _ := n.Job(f.task.Job)
			f.members = j.Members
		}
	})
	if err == nil && !found {
		err = fmt.Errorf("task %s: was not submitted at this node", f.task)
	}
	return v, err
}

// writeResult writes the missing rest of the output of an ended task.
func (f *outputFollower) writeResult(ctx context.Context, v *node.TaskView) error {
	if v.Result == nil {
		return nil
	}
	o := &v.Result.Stdout
	if f.stream == process.Stderr {
		o = &v.Result.Stderr
	}
	if v.Result.Cause == grid.Cancelled && o.Size == 0 && !v.Worker.IsZero() {
		return f.writeStopped(ctx, v)
	}
	if o.Blob.IsZero() {
		return f.finish(v.ID.Attempt, bytes.NewReader(o.Inline))
	}
	if f.writtenBy == v.ID.Attempt && f.offset >= int64(o.Size) {
		return nil
	}
	file, err := f.d.runner.OpenBlob(ctx, v.Worker, &grid.File{Path: "output", Blob: o.Blob, Size: o.Size}, f.members)
	if err != nil {
		return nodeError(v.Worker, err)
	}
	defer file.Close()
	return f.finish(v.ID.Attempt, file)
}

// writeStopped writes what a cancelled task had printed, as far as the node that ran it still has that. Whether it had
// begun at all is not known, so it is no error if that node cannot be asked.
func (f *outputFollower) writeStopped(ctx context.Context, v *node.TaskView) error {
	f.attempt, f.follow = v.ID.Attempt, false
	ctx, cancel := context.WithTimeout(ctx, stoppedTime)
	defer cancel()
	wrote := f.offset
	err := f.copy(ctx, v.Worker)
	if err != nil && f.offset == wrote {
		f.d.log.Debug("output of a cancelled task", "task", f.task, "error", err)
		return nil
	}
	return nodeError(v.Worker, err)
}

// finish writes the missing rest of an attempt's whole output.
func (f *outputFollower) finish(a grid.Attempt, whole io.ReadSeeker) error {
	if !f.continues(a, func(n int64) (io.Reader, error) {
		_, err := whole.Seek(f.start, io.SeekStart)
		return io.LimitReader(whole, n), err
	}) {
		f.restart()
	}
	if _, err := whole.Seek(f.offset, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(f.w, whole)
	return err
}

// continues reports whether an attempt's output begins with what was written of another. prefix returns the first n
// bytes of it from f.start on.
func (f *outputFollower) continues(a grid.Attempt, prefix func(n int64) (io.Reader, error)) bool {
	n := f.offset - f.start
	if n <= 0 || f.writtenBy == a {
		return true
	}
	r, err := prefix(n)
	if err != nil {
		return false
	}
	sum := sha256.New()
	got, err := io.Copy(sum, r)
	return err == nil && got == n && bytes.Equal(sum.Sum(nil), f.sum.Sum(nil))
}

// restart goes back to the start.
func (f *outputFollower) restart() {
	f.offset = f.start
	f.sum.Reset()
}
