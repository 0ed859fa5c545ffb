package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// jobStates are the states of a job.
var jobStates = []string{"pending", "running", "done", "failed", "cancelled"}

func (a *app) jobListCmd() *cobra.Command {
	var out format
	var limit int
	var state string
	cmd := &cobra.Command{Use: "list", Short: "List the jobs submitted to this node, newest first", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return fmt.Errorf("--limit %d: want 1 or more", limit)
			}
			if state != "" && !slices.Contains(jobStates, state) {
				return fmt.Errorf("--state %.40q: want one of %s", state, strings.Join(jobStates, ", "))
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			all := v1.JobPage{Jobs: []v1.Job{}}
			for len(all.Jobs) < limit {
				p, err := c.Jobs(cmd.Context(), min(limit-len(all.Jobs), 1000), all.Next, state)
				if err != nil {
					return err
				}
				all.Jobs, all.Next = append(all.Jobs, p.Jobs...), p.Next
				if p.Next == "" {
					break
				}
			}
			switch {
			case len(all.Jobs) == 0 && out == "table":
				fmt.Fprintln(a.err,
					"no jobs here: submit one with skep run or skep job submit, or name a job of another node by its ID")
				return nil
			case all.Next != "":
				fmt.Fprintf(a.err, "only the newest %d: see --limit\n", limit)
			}
			return out.print(a.out, all, func(w *tabwriter.Writer) {
				row(w, "JOB", "NAME", "STATE", "TASKS", "ENDED", "FAILED", "EXIT", "AGE", "USER", "COMMAND")
				for _, j := range all.Jobs {
					row(w, short(j.ID), orDash(j.Name), j.State, j.Count, j.Ended, j.Failed, exitText(&j),
						age(time.Since(j.Submitted)), userText(&j), orDash(brief(j.Command)))
				}
			})
		}}
	outputFlag(cmd, &out)
	cmd.Flags().IntVar(&limit, "limit", 50, "how many at most")
	cmd.Flags().StringVar(&state, "state", "", "only those that are pending, running, done, failed or cancelled")
	cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(jobStates, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func exitText(j *v1.Job) string {
	if j.Ended == 0 {
		return "-"
	}
	return fmt.Sprint(j.Exit)
}

// brief returns the beginning of a command, for a table.
func brief(command []string) string {
	s := strings.Join(command, " ")
	s = grid.Clean(s, len(s))
	if r := []rune(s); len(r) > 40 {
		return string(r[:39]) + "…"
	}
	return s
}
