package api

import (
	"context"
	"net/http"
	"time"

	"skep/grid"
	"skep/node"
	v1 "skep/node/api/v1"
)

// streamDelay is how long a placed task may run before its output is streamed while it runs. A shorter one's output
// comes with its result, which saves two streams to its node.
const streamDelay = 25 * time.Millisecond

// follower streams the events of a job.
type follower struct {
	s      *Server
	fw     *v1.FrameWriter
	change <-chan struct{}
	id     grid.JobID
	single bool // the job has one task
	live   bool // its output is streamed while it runs
}

// followed is a job that is followed to its end.
type followed struct {
	id       grid.JobID
	job      *v1.Job
	retried  bool // its tasks may be run again when they fail
	progress bool // and its progress is wanted
}

// follow streams the events of a job until it is over. The output of a single task is streamed while it runs; of
// several tasks, each one's is sent whole when it has ended, in the order of their indices. So is that of a single task
// that is run again when it fails: it is the output of the last attempt alone.
func (s *Server) follow(ctx context.Context, w http.ResponseWriter, x *followed, change <-chan struct{}) {
	ctx, cancel := s.untilStop(ctx)
	defer cancel()
	id, job, single := x.id, x.job, x.job.Count == 1
	f := &follower{s, frames(w), change, id, single, single && !x.retried}
	if f.fw.Event(0, &v1.Event{Event: v1.EventSubmitted, Job: job}) != nil {
		return
	}
	stop := func() {}
	if x.progress {
		stop = f.sendProgress(ctx)
	}
	var err error
	for i := 0; i < job.Count && err == nil; i++ {
		err = f.task(ctx, uint32(i))
	}
	stop()
	if err == nil {
		job, err = s.job(ctx, id, false)
	}
	if err != nil {
		f.fw.Event(0, &v1.Event{Event: v1.EventError, Error: err.Error()})
		return
	}
	f.fw.Event(0, &v1.Event{Event: v1.EventEnd, Job: job})
}

// task streams one task to its end.
func (f *follower) task(ctx context.Context, index uint32) error {
	id := grid.TaskID{Job: f.id, Index: index}
	t, err := f.await(ctx, id, f.live)
	if err != nil {
		return err
	}
	var sent [2]int64
	if t.State != grid.Ended {
		// What a lost attempt had printed is not sent again: the next attempt's output is taken to continue it.
		// Whether that is right shows when the task has ended.
		f.stream(ctx, id, &sent)
		if t, err = f.await(ctx, id, false); err != nil {
			return err
		}
	}
	for i, o := range [2]*grid.Output{&t.Result.Stdout, &t.Result.Stderr} {
		// What a cancelled task had printed is in no result; of many tasks it is left to the logs.
		asks := !o.Blob.IsZero() && sent[i] < int64(o.Size) || f.single && t.Result.Cause == grid.Cancelled
		if err := f.writeRest(ctx, id, i == 1, o, sent[i], asks); err != nil {
			return err
		}
	}
	task := f.s.taskWithName(ctx, &t)
	e := &v1.Event{Event: v1.EventTask, Task: &task}
	if t.Result.Cause == grid.Unplaceable {
		e.Why = f.s.whyUnplaceable(ctx, id)
	}
	return f.fw.Event(index, e)
}

// await returns the task when it has ended, or with live when it has run for streamDelay.
func (f *follower) await(ctx context.Context, id grid.TaskID, live bool) (node.TaskView, error) {
	alive := time.NewTicker(aliveTime)
	defer alive.Stop()
	var placed <-chan time.Time
	ripe := false
	for {
		t, err := f.s.task(ctx, id)
		if err != nil || t.State == grid.Ended && t.Result != nil || ripe && t.State == grid.Placed {
			return t, err
		}
		if live && placed == nil && t.State == grid.Placed {
			placed = time.After(streamDelay)
		}
		select {
		case <-f.change:
		case <-placed:
			ripe = true
		case <-alive.C:
			if err := f.fw.Event(id.Index, &v1.Event{Event: v1.EventAlive}); err != nil {
				return t, err
			}
		case <-ctx.Done():
			return t, ctx.Err()
		}
	}
}

// stream sends both outputs while the task runs and counts the bytes sent.
func (f *follower) stream(ctx context.Context, id grid.TaskID, sent *[2]int64) {
	done := make(chan struct{})
	for i, k := range [2]v1.FrameKind{v1.FrameStdout, v1.FrameStderr} {
		go func() {
			w := &countingWriter{w: f.fw.Stream(k, id.Index), n: &sent[i]}
			if err := f.s.b.Output(ctx, w, id, i == 1, 0, true); err != nil {
				f.s.o.Log.Debug("live output broke off", "task", id.String(), "err", err)
			}
			done <- struct{}{}
		}()
	}
	alive := time.NewTicker(aliveTime)
	defer alive.Stop()
	for left := 2; left > 0; {
		select {
		case <-done:
			left--
		case <-alive.C:
			f.fw.Event(id.Index, &v1.Event{Event: v1.EventAlive})
		}
	}
}

// writeRest sends the part of a stream that was not sent yet. If asks is set, it is had from the node that has it.
func (f *follower) writeRest(ctx context.Context, id grid.TaskID, stderr bool, o *grid.Output, sent int64,
	asks bool) error {
	k := v1.FrameStdout
	if stderr {
		k = v1.FrameStderr
	}
	w := f.fw.Stream(k, id.Index)
	if asks {
		return f.s.b.Output(ctx, w, id, stderr, sent, false)
	}
	if sent < int64(len(o.Inline)) {
		_, err := w.Write(o.Inline[sent:])
		return err
	}
	return nil
}

// whyUnplaceable says of each known node why it cannot run a task.
func (s *Server) whyUnplaceable(ctx context.Context, id grid.TaskID) []string {
	var all []v1.Fitness
	s.b.Read(ctx, func(v *node.Node, now gridTime) {
		j, ok := v.Job(id.Job)
		if !ok {
			return
		}
		for _, p := range v.Peers(now, nil) {
			f := fitnessOf(j.Spec, &p)
			if f.Reason == "" && v.WouldExpose(p.Ad.Node, j.Spec) {
				f.Reason = grid.WhyAccess.String()
			}
			all = append(all, f)
		}
	})
	var out []string
	for _, f := range s.versions().Fitness(all) {
		if f.Reason == "" {
			continue
		}
		line := v1.Short(f.Node)
		if f.Name != "" {
			line = f.Name + " (" + line + ")"
		}
		line += " " + f.Reason
		if f.Detail != "" {
			line += ": " + f.Detail
		}
		out = append(out, line)
	}
	return out
}

// countingWriter counts what it writes.
type countingWriter struct {
	w interface{ Write([]byte) (int, error) }
	n *int64
}

// Write writes and counts.
func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	*c.n += int64(n)
	return n, err
}
