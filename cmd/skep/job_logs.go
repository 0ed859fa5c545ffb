package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

func (a *app) jobLogsCmd() *cobra.Command {
	var follow bool
	var offset int64
	cmd := &cobra.Command{
		Use: "logs [-f] ID[/INDEX]", Short: "Print what a task printed",
		Long: "Print what a task printed, on the same streams. Without an index all tasks of the job, in order.\n\n" +
			"The exit code is 0 however the task ended, and 125 if some of what it printed cannot be had: each task\n" +
			"of which that is so is named, with the node that has it if that is known, and what there is of the others is\n" +
			"printed. Nothing is kept of what a task printed that was cancelled.",
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
			end := index + 1
			if ref == args[0] {
				j, err := c.Job(cmd.Context(), ref)
				if err != nil {
					return outputError(err)
				}
				ref, end = j.ID, uint32(j.Count)
			}
			failed, t := 0, taskReporter{app: a}
			defer func() {
				t.flush()
				if failed > maxReported {
					fmt.Fprintf(a.err, "skep: and that of %d more tasks\n", failed-maxReported)
				}
			}()
			for ; index < end; index++ {
				err := t.logs(cmd.Context(), c, ref, index, follow, offset)
				var gone *noOutputError
				if err != nil && !errors.As(err, &gone) {
					return outputError(err)
				}
				if err == nil {
					continue
				}
				if failed++; failed <= maxReported {
					fmt.Fprintln(a.err, "skep:", err)
				}
			}
			if failed > 0 {
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

// logs prints one task's output, and Skep's messages about its end.
func (a *taskReporter) logs(ctx context.Context, c *client.Client, ref string, index uint32, follow bool,
	offset int64) error {
	s, err := c.Logs(ctx, ref, index, follow, offset)
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
			_, err = a.out.Write(f.Data)
		case f.Kind == v1.FrameStderr:
			_, err = a.err.Write(f.Data)
		case e != nil && e.Event == v1.EventError:
			return &noOutputError{e.Error}
		case e != nil && e.Event == v1.EventTask:
			whole = true
			err = a.reportEnd(e)
		}
		if err != nil {
			return err
		}
	}
}

// reportEnd reports how a task ended where its output alone does not show it, and that a lost attempt has no output.
func (a *taskReporter) reportEnd(e *v1.Event) error {
	if e.Task == nil || e.Task.Result == nil {
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
