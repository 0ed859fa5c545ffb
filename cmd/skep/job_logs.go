package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skep/node/api/client"
	"skep/node/api/v1"
)

func (a *app) jobLogsCmd() *cobra.Command {
	var follow bool
	var offset int64
	cmd := &cobra.Command{
		Use: "logs [-f] ID[/INDEX]", Short: "Print what a task printed",
		Long:              "Print what a task printed, on the same streams. Without an index all tasks of the job, in order.",
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
			if ref != args[0] {
				return a.logs(cmd.Context(), c, ref, index, follow, offset)
			}
			j, err := c.Job(cmd.Context(), ref)
			for i := 0; err == nil && i < j.Count; i++ {
				err = a.logs(cmd.Context(), c, j.ID, uint32(i), follow, offset)
			}
			return err
		}}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the task has ended")
	cmd.Flags().Int64Var(&offset, "offset", 0, "bytes of each stream to pass over")
	return cmd
}

// logs prints one task's output.
func (a *app) logs(ctx context.Context, c *client.Client, ref string, index uint32, follow bool, offset int64) error {
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
			return errors.New(e.Error)
		case e != nil && e.Event == v1.EventTask:
			whole = true
		}
		if err != nil {
			return err
		}
	}
}
