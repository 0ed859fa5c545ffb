package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"skep/grid"
	"skep/node/api/client"
	"skep/node/api/v1"
)

// outcome is the outcome of a task.
type outcome struct {
	*task
	arrived    time.Duration // since the pass began
	completion time.Duration // from submission to the end, as seen by the submitter
	node       string        // where it ran
	moved      bool
	record     v1.Task
}

// pass is the outcome of all tasks.
type pass struct {
	runs     []outcome
	messages uint64
}

// runAll submits all tasks at their times, under a policy if one is named, waits for them, and writes each end to w.
func (ns *network) runAll(ctx context.Context, w io.Writer, tasks []task, policy string) (*pass, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	before, err := ns.sent(ctx)
	if err != nil {
		return nil, err
	}
	p := &pass{runs: make([]outcome, len(tasks))}
	errs := make([]error, len(tasks))
	var wg sync.WaitGroup
	var mu sync.Mutex
	began := time.Now()
	for i := range tasks {
		t := &tasks[i]
		select {
		case <-time.After(time.Until(began.Add(t.at))):
		case <-ctx.Done():
		}
		wg.Go(func() {
			r := &p.runs[i]
			r.task, r.arrived = t, time.Since(began)
			if errs[i] = ns.runTask(ctx, r, policy); errs[i] != nil {
				cancel()
				return
			}
			if w != nil {
				mu.Lock()
				defer mu.Unlock()
				r.line(w, i, ns)
			}
		})
	}
	wg.Wait()
	if err := firstReal(errs); err != nil {
		return nil, err
	}
	after, err := ns.sent(ctx)
	p.messages = after - before
	return p, err
}

// firstReal returns the error that cancelled the others.
func firstReal(errs []error) error {
	var first error
	for _, err := range errs {
		if err != nil && (first == nil || errors.Is(first, context.Canceled)) {
			first = err
		}
	}
	return first
}

// runTask runs a task to its end and checks its output.
func (ns *network) runTask(ctx context.Context, r *outcome, policy string) error {
	n := ns.list[r.origin]
	spec := &v1.Spec{Name: "demo", Class: r.class, Policy: policy, Inputs: []v1.File{ns.program},
		Command: []string{"./" + ns.program.Path, "demo-task", r.class, fmt.Sprint(r.units)},
		Needs:   v1.Needs{Cores: float64(grid.CPU) / 1000, Labels: needs(r.class, policy)}}
	began := time.Now()
	s, err := n.client.Run(ctx, client.Draw(), spec, false)
	if err != nil {
		return err
	}
	defer s.Close()
	var out, diag strings.Builder
	for {
		f, e, err := s.Next()
		if err != nil {
			return err
		}
		switch {
		case f.Kind == v1.FrameStdout:
			out.Write(f.Data)
		case f.Kind == v1.FrameStderr:
			diag.Write(f.Data)
		case e == nil:
		case e.Event == v1.EventTask && e.Task != nil:
			r.record = *e.Task
		case e.Event == v1.EventError:
			return errors.New(e.Error)
		case e.Event == v1.EventEnd:
			r.completion = time.Since(began)
			r.moved = r.record.Node != n.id
			r.node = ns.name(r.record.Node)
			return r.verify(strings.TrimSpace(out.String()), diag.String())
		}
	}
}

func (r *outcome) verify(got, diag string) error {
	if r.record.Result == nil || r.record.Result.Exit != 0 {
		cause := "no result"
		if r.record.Result != nil {
			cause = fmt.Sprintf("%s with %d: %s", r.record.Result.Cause, r.record.Result.Exit, r.record.Result.Error)
		}
		return fmt.Errorf("demo: %s %d on %s: %s %s", r.class, r.units, r.node, cause, diag)
	}
	if got != r.want {
		return fmt.Errorf("demo: %s %d on %s printed %q: want %q", r.class, r.units, r.node, got, r.want)
	}
	return nil
}

// sent returns the number of messages that all nodes have sent.
func (ns *network) sent(ctx context.Context) (sum uint64, err error) {
	for _, n := range ns.list {
		s, err := n.client.Stats(ctx)
		if err != nil {
			return 0, err
		}
		for _, c := range s.Sent {
			sum += c
		}
	}
	return sum, nil
}

// needs returns the label that one class needs and only some nodes have; not in the pass where tasks stay at their
// origin, since they could not run elsewhere.
func needs(class, policy string) map[string][]string {
	if class == "matrix" && policy == "" {
		return map[string][]string{"accel": {"yes"}}
	}
	return nil
}
