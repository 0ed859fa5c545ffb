package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"skep/cmd/skep/progress"
	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

func (a *app) jobWaitCmd() *cobra.Command {
	var timeout time.Duration
	cmd := a.oneJob("wait ID", "Wait until a job is over and exit with its highest exit code",
		func(cmd *cobra.Command, ref string) error {
			failed := func(err error) error { return &exitError{grid.ExitSkep, err} }
			if timeout < 0 {
				return failed(fmt.Errorf("--timeout %v: want 0 or more", timeout))
			}
			c, err := a.client()
			if err != nil {
				return failed(err)
			}
			defer c.Close()
			line, done := a.passingDisplay()
			defer done()
			end := time.Now().Add(timeout)
			for {
				d := time.Minute
				if every := line.Interval(); every > 0 {
					d = every
				}
				if timeout > 0 {
					d = min(d, max(0, time.Until(end)))
				}
				j, err := c.Wait(cmd.Context(), ref, d)
				if err != nil {
					return failed(err)
				}
				ref = j.ID
				showJob(cmd.Context(), c, line, &j)
				switch {
				case j.Over() && len(j.Command) == 0 && j.State != v1.JobDone: // under access owner
					return &exitError{1,
						fmt.Errorf("job %s: is %s, %d of %d tasks failed: its exit code is for whoever has its capability",
							v1.Short(j.ID), j.State, j.Failed, j.Count)}
				case j.Over() && j.Stopped != "":
					return &exitError{int(j.Exit), fmt.Errorf("job %s: was cancelled: %s", v1.Short(j.ID), j.Stopped)}
				case j.Over() && j.Exit != 0:
					return &exitError{code: int(j.Exit)}
				case j.Over():
					return nil
				case timeout > 0 && !time.Now().Before(end):
					return &exitError{grid.ExitTimedOut, fmt.Errorf("job %s: is %s after %v: %d of %d tasks have ended%s",
						v1.Short(j.ID), j.State, timeout, j.Ended, j.Count, unendedText(&j))}
				}
			}
		})
	cmd.Long = "Wait until a job is over and exit with its highest exit code, as skep run would; 125 if Skep failed, " +
		"124 if the time of --timeout ran out."
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait; 0 is for ever")
	return cmd
}

// showJob shows how far a job is. What its one task says of itself is asked for where it runs.
func showJob(ctx context.Context, c *client.Client, line *progress.Display, j *v1.Job) {
	if line.Interval() == 0 {
		return
	}
	var task *v1.Task
	if j.Count == 1 && j.Placed == 1 {
		if p, err := c.Tasks(ctx, j.ID, 0, 1); err == nil && len(p.Tasks) == 1 {
			task = &p.Tasks[0]
		}
	}
	line.Show(progress.OfJob(j, task))
}

// unendedText says what the tasks of a job do that have not ended.
func unendedText(j *v1.Job) (text string) {
	for _, of := range []struct {
		n    int
		what string
	}{{j.Running, "running"}, {j.Queued, "queued"}, {j.Pending, "pending"}} {
		if of.n > 0 {
			text += fmt.Sprintf(", %d %s", of.n, of.what)
		}
	}
	return text
}
