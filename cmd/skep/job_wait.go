package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"skep/grid"
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
			end := time.Now().Add(timeout)
			for {
				d := time.Minute
				if timeout > 0 {
					d = min(d, max(0, time.Until(end)))
				}
				j, err := c.Wait(cmd.Context(), ref, d)
				if err != nil {
					return failed(err)
				}
				ref = j.ID
				switch {
				case j.Over() && len(j.Command) == 0 && j.State != v1.JobDone: // under access owner
					return &exitError{1,
						fmt.Errorf("job %s: is %s, %d of %d tasks failed: its exit code is for whoever has its capability", short(j.ID),
							j.State, j.Failed, j.Count)}
				case j.Over() && j.Exit != 0:
					return &exitError{code: int(j.Exit)}
				case j.Over():
					return nil
				case timeout > 0 && !time.Now().Before(end):
					return &exitError{grid.ExitTimedOut, fmt.Errorf("job %s: is %s after %v: %d of %d tasks have ended", short(j.ID),
						j.State, timeout, j.Ended, j.Count)}
				}
			}
		})
	cmd.Long = "Wait until a job is over and exit with its highest exit code, as skep run would; 125 if Skep failed, " +
		"124 if the time of --timeout ran out."
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait; 0 is for ever")
	return cmd
}
