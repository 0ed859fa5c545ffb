package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"skep/grid"
	"skep/node/api/client"
	"skep/node/api/v1"
)

// demoTask is one task of the demonstration and its expected output.
type demoTask struct {
	class string
	units int
	want  string
	at    time.Duration // since the start of the arrivals
	node  int           // index of its origin
}

// demoLoad is the tasks in the order of their arrival.
type demoLoad struct{ tasks []demoTask }

// newDemoLoad draws the tasks: exponential times between arrivals; class, size and node at random. Sizes are such that
// a task takes about demoWork on this machine; the expected outputs are computed here.
func newDemoLoad(seed uint64, tasks, nodes int) *demoLoad {
	units := map[string]int{}
	want := map[string]string{}
	for _, c := range demoClasses {
		units[c] = calibrate(c)
	}
	r := grid.NewRand(seed, 0)
	l := &demoLoad{}
	var at time.Duration
	for range tasks {
		at += time.Duration(r.ExpFloat64() * float64(demoSpan) / demoTasks)
		c := demoClasses[r.IntN(len(demoClasses))]
		n := max(1, units[c]*(8+2*r.IntN(3))/10)
		key := fmt.Sprint(c, n)
		if want[key] == "" {
			want[key] = demoKinds[c](n)
		}
		l.tasks = append(l.tasks, demoTask{class: c, units: n, want: want[key], at: at, node: r.IntN(nodes)})
	}
	return l
}

// calibrate returns how many units of a class take demoWork of CPU time.
func calibrate(class string) int {
	best := time.Hour
	const units = 10
	for range 3 {
		before := cpuTime()
		demoKinds[class](units)
		if d := cpuTime() - before; d > 0 {
			best = min(best, d)
		}
	}
	return max(1, min(maxDemoWork, int(units*demoWork/best)))
}

// cpuTime returns the CPU time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// uploadProgram uploads the program, which is this binary, to each node.
func (ns *demoNodes) uploadProgram(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	hash, size, err := hashFile(self)
	if err != nil {
		return err
	}
	ns.program = v1.File{Path: "skep-demo", Blob: hash, Size: size, Exec: true}
	for _, n := range ns.list {
		if err := send(ctx, n.client, &inputFile{self, ns.program}); err != nil {
			return fmt.Errorf("program to node %s: %w", n.name, err)
		}
	}
	return nil
}

// demoRun is the outcome of a task.
type demoRun struct {
	*demoTask
	arrived    time.Duration // since the pass began
	completion time.Duration // from submission to the end, as seen by the submitter
	node       string        // where it ran
	moved      bool
	task       v1.Task
}

// demoPass is the outcome of all tasks.
type demoPass struct {
	runs     []demoRun
	messages uint64
}

// runAll submits all tasks at their times, under a policy if one is named, waits for them, and writes each end to w.
func (ns *demoNodes) runAll(ctx context.Context, w io.Writer, l *demoLoad, policy string) (*demoPass, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	before, err := ns.sent(ctx)
	if err != nil {
		return nil, err
	}
	p := &demoPass{runs: make([]demoRun, len(l.tasks))}
	errs := make([]error, len(l.tasks))
	var wg sync.WaitGroup
	var mu sync.Mutex
	began := time.Now()
	for i := range l.tasks {
		t := &l.tasks[i]
		select {
		case <-time.After(time.Until(began.Add(t.at))):
		case <-ctx.Done():
		}
		wg.Go(func() {
			r := &p.runs[i]
			r.demoTask, r.arrived = t, time.Since(began)
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
func (ns *demoNodes) runTask(ctx context.Context, r *demoRun, policy string) error {
	n := ns.list[r.demoTask.node]
	spec := &v1.Spec{Name: "demo", Class: r.class, Policy: policy, Inputs: []v1.File{ns.program},
		Command: []string{"./" + ns.program.Path, "demo-task", r.class, fmt.Sprint(r.units)},
		Needs:   v1.Needs{Cores: demoCores, Labels: demoNeed(r.class, policy)}}
	began := time.Now()
	s, err := n.client.Run(ctx, client.Draw(), spec)
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
			r.task = *e.Task
		case e.Event == v1.EventError:
			return errors.New(e.Error)
		case e.Event == v1.EventEnd:
			r.completion = time.Since(began)
			r.moved = r.task.Node != n.id
			r.node = ns.name(r.task.Node)
			return r.verify(strings.TrimSpace(out.String()), diag.String())
		}
	}
}

func (r *demoRun) verify(got, diag string) error {
	if r.task.Result == nil || r.task.Result.Exit != 0 {
		cause := "no result"
		if r.task.Result != nil {
			cause = fmt.Sprintf("%s with %d: %s", r.task.Result.Cause, r.task.Result.Exit, r.task.Result.Error)
		}
		return fmt.Errorf("demo: %s %d on %s: %s %s", r.class, r.units, r.node, cause, diag)
	}
	if got != r.want {
		return fmt.Errorf("demo: %s %d on %s printed %q: want %q", r.class, r.units, r.node, got, r.want)
	}
	return nil
}

// sent returns the number of messages that all nodes have sent.
func (ns *demoNodes) sent(ctx context.Context) (sum uint64, err error) {
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
