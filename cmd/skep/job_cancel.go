package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) jobCancelCmd() *cobra.Command {
	return a.oneJob("cancel ID", "End a job", func(cmd *cobra.Command, ref string) error {
		c, err := a.client()
		if err != nil {
			return err
		}
		defer c.Close()
		if isTerminal(a.err) {
			fmt.Fprint(a.err, "cancelling…")
			defer fmt.Fprint(a.err, "\r\x1b[K")
		}
		j, err := c.Cancel(cmd.Context(), ref)
		if err != nil {
			return err
		}
		if j.Over() {
			_, err = fmt.Fprintf(a.out, "job %s is %s\n", short(j.ID), j.State)
		} else {
			_, err = fmt.Fprintf(a.out, "job %s is being cancelled: %d of %d tasks have ended\n", short(j.ID), j.Ended, j.Count)
		}
		return err
	})
}
