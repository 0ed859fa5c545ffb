package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"skep/cmd/skep/arrays"
	"skep/cmd/skep/prefix"
	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

func (a *app) jobLogsCmd() *cobra.Command {
	var follow bool
	var offset int64
	cmd := &cobra.Command{
		Use: "logs [-f] ID[/INDEX]", Short: "Print what a task printed",
		Long: "Print what a task printed, on the same streams. Without an index all tasks of the job, in order; with -f\n" +
			"of several tasks as it comes, each line behind the task's index: [12] text. At most 12 tasks are followed at\n" +
			"the same time.\n\n" +
			"The exit code is 0 however the task ended, and 125 if some of what it printed cannot be had: each task\n" +
			"of which that is so is named, with the node that has it if that is known, and what there is of the others is\n" +
			"printed. What a cancelled task printed is with the node that ran it, of the last 64, until that node stops.",
		ValidArgsFunction: a.completeJobs,
		Args:              oneArg("a job's ID, or ID/INDEX for one task, or last"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, index, err := splitTask(args[0])
			if err != nil {
				return err
			}
			if offset < 0 {
				return fmt.Errorf("--offset %d: want 0 or more bytes", offset)
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			t := logPrinter{taskReporter: taskReporter{app: a}, c: c, ref: ref, follow: follow, offset: offset}
			end := index + 1
			if ref == args[0] {
				j, err := c.Job(cmd.Context(), ref)
				if err != nil {
					return outputError(err)
				}
				if t.ref, end = j.ID, uint32(j.Count); j.Spec != nil {
					t.array = j.Spec.Array
				}
			}
			defer t.flush()
			if follow && end > index+1 {
				err = t.interleave(cmd.Context(), end)
			} else {
				err = t.inOrder(cmd.Context(), index, end)
			}
			if err != nil {
				return outputError(err)
			}
			if t.failed > 0 {
				return &exitError{code: grid.ExitSkep}
			}
			return nil
		}}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the task has ended")
	cmd.Flags().Int64Var(&offset, "offset", 0, "bytes of each stream to pass over")
	return cmd
}

// noOutputError means that the output of a task is not available, now or for ever.
type noOutputError struct{ why string }

// Error names the task and the node.
func (e *noOutputError) Error() string { return e.why }

// outputError gives an error that prevents output the exit code of Skep's failures; errors of the request keep theirs.
func outputError(err error) error {
	var p *v1.Problem
	var no *client.NoNodeError
	if errors.As(err, &p) && p.Status < http.StatusInternalServerError || errors.As(err, &no) {
		return err
	}
	return &exitError{grid.ExitSkep, err}
}

// logPrinter prints the output of the tasks of a job.
type logPrinter struct {
	taskReporter
	c      *client.Client
	ref    string
	follow bool
	offset int64

	mu     sync.Mutex // held while something is printed or counted
	failed int        // tasks of which some output cannot be had
}

// flush prints how many more tasks there are than were named.
func (p *logPrinter) flush() {
	p.taskReporter.flush()
	if p.failed > maxReported {
		fmt.Fprintf(p.err, "skep: and that of %d more tasks\n", p.failed-maxReported)
	}
}

// inOrder prints the output of tasks, one after the other.
func (p *logPrinter) inOrder(ctx context.Context, index, end uint32) error {
	for ; index < end; index++ {
		if err := p.task(ctx, index, p.out, p.app.err); err != nil {
			return err
		}
	}
	return nil
}

// maxStreams bounds the tasks that are followed at the same time. A node takes as few as 16 connections.
const maxStreams = 12

// interleave follows all tasks as they run, and prints each line behind its task's index and values.
func (p *logPrinter) interleave(ctx context.Context, count uint32) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxStreams)
	begun, from := make([]bool, count), uint32(0)
	for wait := 100 * time.Millisecond; from < count && ctx.Err() == nil; wait = min(2*wait, 2*time.Second) {
		for at, more := from, true; more && ctx.Err() == nil; {
			page, err := p.c.Tasks(ctx, p.ref, at, 0)
			if stopped := ctx.Err() != nil; err != nil {
				cancel()
				if e := group.Wait(); stopped { // by an error of a task, or by the caller
					return cmp.Or(e, err)
				}
				return err
			}
			for i := range page.Tasks {
				t := page.Tasks[i]
				if begun[t.Index] || t.State != grid.Placed.String() && t.State != grid.Ended.String() {
					continue
				}
				begun[t.Index], wait = true, 50*time.Millisecond
				group.Go(func() error { return p.prefixed(ctx, &t) })
			}
			if more = page.Next != nil; more {
				at = *page.Next
			}
		}
		for from < count && begun[from] {
			from++
		}
		if from < count {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
			}
		}
	}
	return group.Wait()
}

// prefixed prints the output of one task, each line behind its index and values.
func (p *logPrinter) prefixed(ctx context.Context, t *v1.Task) error {
	mark := fmt.Sprintf("[%d] ", t.Index)
	if values := arrays.Text(arrays.Of(t, p.array)); values != "" {
		mark = fmt.Sprintf("[%d %s] ", t.Index, values)
	}
	out, errs := prefix.NewWriter(p.out, &p.mu, mark), prefix.NewWriter(p.app.err, &p.mu, mark)
	defer out.EndLine()
	defer errs.EndLine()
	return p.task(ctx, t.Index, out, errs)
}

// task prints the output of one task. That it cannot be had is reported, and is no error.
func (p *logPrinter) task(ctx context.Context, index uint32, out, errs io.Writer) error {
	err := p.logs(ctx, index, out, errs)
	var gone *noOutputError
	if err == nil || !errors.As(err, &gone) {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed++; p.failed <= maxReported {
		fmt.Fprintln(p.app.err, "skep:", err)
	}
	return nil
}

// logs prints one task's output, and Skep's messages about its end.
func (p *logPrinter) logs(ctx context.Context, index uint32, out, errs io.Writer) error {
	s, err := p.c.Logs(ctx, p.ref, index, p.follow, p.offset)
	if err != nil {
		return err
	}
	defer s.Close()
	for whole := false; ; {
		f, e, err := s.Next()
		if errors.Is(err, io.EOF) && whole {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case f.Kind == v1.FrameStdout:
			_, err = out.Write(f.Data)
		case f.Kind == v1.FrameStderr:
			_, err = errs.Write(f.Data)
		case e != nil && e.Event == v1.EventError:
			return &noOutputError{e.Error}
		case e != nil && e.Event == v1.EventTask:
			whole = true
			p.mu.Lock()
			err = p.reportEnd(e)
			p.mu.Unlock()
		}
		if err != nil {
			return err
		}
	}
}

// reportEnd reports how a task ended where its output alone does not show it, and that a lost attempt has no output.
func (a *taskReporter) reportEnd(e *v1.Event) error {
	if e.Task == nil {
		return nil
	}
	a.reportFailures(e.Task)
	if e.Task.Result == nil {
		return nil
	}
	if e.Task.Result.Cause == grid.Lost.String() {
		text := fmt.Sprintf("task %d: %s", e.Task.Index, causeText(e.Task.Result))
		if e.Task.Node != "" {
			text += "; its node was " + nodeLabel(e.Task.Name, e.Task.Node)
		}
		return &noOutputError{text}
	}
	a.report(e)
	return nil
}
