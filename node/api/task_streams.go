package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"skep/grid"
	"skep/node"
	v1 "skep/node/api/v1"
)

type logsIn struct {
	Ref
	Task   uint32 `query:"task" doc:"Index of the task."`
	Stream string `query:"stream" enum:"both,stdout,stderr" default:"both" doc:"both comes as frames, one alone as it was printed."`
	Offset int64  `query:"offset" minimum:"0" doc:"Bytes of each stream to pass over."`
	Follow bool   `query:"follow" doc:"Go on until the task has ended."`
}

// logs streams a task's output.
func (s *Server) logs(ctx context.Context, in *logsIn) (*huma.StreamResponse, error) {
	id, err := grid.ParseJobID(in.ID)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	t := grid.TaskID{Job: id, Index: in.Task}
	if _, err := s.task(ctx, t); err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		_, w := humago.Unwrap(hc)
		ctx, cancel := s.untilStop(ctx)
		defer cancel()
		if in.Stream != "both" {
			s.text(ctx, w, t, in)
			return
		}
		fw := frames(w)
		if err := s.bothStreams(ctx, fw, t, [2]int64{in.Offset, in.Offset}, in.Follow); err != nil {
			fw.Event(t.Index, &v1.Event{Event: v1.EventError, Error: s.outputError(ctx, t, err).Error()})
			return
		}
		tv, err := s.task(ctx, t)
		if err != nil {
			fw.Event(t.Index, &v1.Event{Event: v1.EventError, Error: s.outputError(ctx, t, err).Error()})
			return
		}
		task := s.taskWithName(ctx, &tv)
		fw.Event(t.Index, &v1.Event{Event: v1.EventTask, Task: &task})
	}}, nil
}

// text writes one stream as it was printed. An error breaks the connection off, so that it is not taken for the
// end.
func (s *Server) text(ctx context.Context, w http.ResponseWriter, t grid.TaskID, in *logsIn) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	out := &flushing{w: w, flush: http.NewResponseController(w).Flush}
	err := s.b.Output(ctx, out, t, in.Stream == "stderr", in.Offset, in.Follow)
	switch {
	case err == nil:
	case !out.begun:
		fail(w, s.outputError(ctx, t, err))
	default:
		panic(http.ErrAbortHandler)
	}
}

// bothStreams writes both streams concurrently.
func (s *Server) bothStreams(ctx context.Context, fw *v1.FrameWriter, t grid.TaskID, offset [2]int64,
	follow bool) error {
	var errs [2]error
	var wg sync.WaitGroup
	for i, k := range [2]v1.FrameKind{v1.FrameStdout, v1.FrameStderr} {
		wg.Go(func() { errs[i] = s.b.Output(ctx, fw.Stream(k, t.Index), t, i == 1, offset[i], follow) })
	}
	wg.Wait()
	return cmp.Or(errs[0], errs[1]) // usually for the same reason
}

// outputError says which task's output is not available, and which node was asked for it.
func (s *Server) outputError(ctx context.Context, id grid.TaskID, err error) error {
	text := fmt.Sprintf("task %d: its output cannot be had now", id.Index)
	var asked *grid.NodeError
	var late net.Error
	switch {
	case ctx.Err() != nil:
		return huma.Error503ServiceUnavailable(text + ": the node is stopping")
	case !errors.As(err, &asked):
		return huma.Error500InternalServerError(text + ": " + err.Error())
	case errors.As(err, &late) && late.Timeout():
		err = errors.New("no answer in time")
	default:
		err = asked.Err
	}
	return huma.Error502BadGateway(fmt.Sprintf("%s from node %s: %v", text, s.displayName(ctx, asked.Node), err))
}

// task returns a task of this node, without memory shared with the node.
func (s *Server) task(ctx context.Context, id grid.TaskID) (node.TaskView, error) {
	var t node.TaskView
	var found bool
	err := s.b.Read(ctx, func(v *node.Node, _ gridTime) {
		t, found = v.Task(id)
		t.Traces = nil
	})
	if err != nil {
		return t, asProblem(err)
	}
	if !found {
		return t, huma.Error404NotFound("task " + id.String() + ": the job has no task of that index")
	}
	return t, nil
}

// taskWithName returns a task with the name of its node.
func (s *Server) taskWithName(ctx context.Context, t *node.TaskView) v1.Task {
	var n names
	var array *grid.Array
	if s.b.Read(ctx, func(v *node.Node, now gridTime) {
		n = namesOf(v, now)
		if j, ok := v.Job(t.ID.Task.Job); ok {
			array = j.Spec.Array
		}
	}) != nil {
		n = nil
	}
	task := taskOf(t, n, s.b.Wall())
	if array != nil {
		addValues(&task, array, nil)
	}
	return task
}

// untilStop returns a context that ends with ctx, and when the server stops.
func (s *Server) untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-s.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// frames begins a stream of frames.
func frames(w http.ResponseWriter) *v1.FrameWriter {
	w.Header().Set("Content-Type", v1.FrameType)
	return v1.NewFrameWriter(w, http.NewResponseController(w).Flush)
}

// flushing flushes after each write.
type flushing struct {
	w     io.Writer
	flush func() error
	begun bool
}

// Write writes and flushes.
func (f *flushing) Write(p []byte) (int, error) {
	f.begun = true
	n, err := f.w.Write(p)
	if err == nil {
		err = f.flush()
	}
	return n, err
}

// stdinPath is the rest of the path of a job's standard input.
const stdinPath = "/stdin"

// stdinElsewhere is why a standard input is not relayed: a node takes it from the job's origin alone.
const stdinElsewhere = "its standard input goes through the node that it was submitted to: want that one asked"

// putStdin sends what the request brings to the one task of a job, as its standard input.
func (s *Server) putStdin(w http.ResponseWriter, r *http.Request) {
	id, err := grid.ParseJobID(r.PathValue("id"))
	if err != nil {
		problem(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	if id.Origin != s.self {
		problem(w, http.StatusConflict, "job "+id.String()+": "+stdinElsewhere)
		return
	}
	var source grid.Stdin
	err = s.b.Read(r.Context(), func(v *node.Node, _ gridTime) {
		if j, ok := v.Job(id); ok {
			source = j.Spec.Stdin
		}
	})
	if err != nil {
		fail(w, asProblem(err))
		return
	}
	if source != grid.StdinStream {
		problem(w, http.StatusConflict,
			"job "+id.String()+": takes no streamed standard input: want stdin.stream in its spec")
		return
	}
	ctx, cancel := s.untilStop(r.Context())
	defer cancel()
	in := &countingReader{r: r.Body}
	all, err := s.b.Stdin(ctx, grid.TaskID{Job: id}, in)
	if err != nil {
		problem(w, http.StatusConflict, "job "+id.String()+": standard input: "+err.Error())
	} else {
		writeJSON(w, v1.StdinEnd{Read: in.n.Load(), All: all})
	}
	// the input may be read still, and may never end
	http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
}

// countingReader counts what was read.
type countingReader struct {
	r io.Reader
	n atomic.Int64
}

// Read reads and counts.
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}
