package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"skep/cmd/skep/jobs"
	"skep/grid"
	v1 "skep/node/api/v1"
)

func (a *app) jobListCmd() *cobra.Command {
	var out format
	var filter jobs.Filter
	cmd := &cobra.Command{Use: "list [NAME-PATTERN]", Short: "List the jobs of the grid, newest first",
		Long: "List the jobs of the grid, newest first: those of all nodes that this one knows, and those of nodes that\n" +
			"are gone, as far as others keep them. NAME-PATTERN is a shell pattern of the whole name, such as 'train-*', in\n" +
			"quotes. What is listed is what every member may see; the command only of jobs that the asked node keeps. How\n" +
			"many nodes did not answer in time is said on the error stream. All that is asked for must hold at once.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("job list: want one name pattern, but got %d, %.40q first: put it in quotes", len(args), args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if filter.Pattern = ""; len(args) > 0 {
				filter.Pattern = args[0]
			}
			if _, err := filter.Query(time.Now()); err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			all, err := filter.List(cmd.Context(), c)
			if err != nil {
				return err
			}
			if len(all.Jobs) > 0 || !out.isTable() {
				err = out.print(a.out, all, func(w *tabwriter.Writer) { jobTable(w, all.Jobs, !filter.Here) })
			}
			for _, note := range filter.Notes(&all) {
				fmt.Fprintln(a.err, note)
			}
			return err
		}}
	outputFlag(cmd, &out)
	filter.AddFlags(cmd.Flags())
	cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(jobs.StateNames(),
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// jobTable prints jobs; with origins also the node that each was submitted to.
func jobTable(w io.Writer, list []v1.ListedJob, origins bool) {
	head := []any{"JOB", "NAME", "STATE", "TASKS", "ENDED", "FAILED", "EXIT", "QUEUED", "RUNNING", "AGE", "USER",
		"NODE", "COMMAND"}
	const node = 11
	if !origins {
		head = slices.Delete(head, node, node+1)
	}
	row(w, head...)
	for i := range list {
		j := &list[i].Job
		cells := []any{v1.Short(j.ID), orDash(j.Name), j.State, j.Count, j.Ended, failedText(j), exitText(j),
			j.Queued, j.Running, age(time.Since(j.Submitted)), userText(j),
			cmp.Or(list[i].OriginName, v1.Short(j.Origin)), orDash(commandStart(j.Command))}
		if !origins {
			cells = slices.Delete(cells, node, node+1)
		}
		row(w, cells...)
	}
}

// failedText is the number of failed tasks, and of the failures that were retried.
func failedText(j *v1.Job) string {
	if j.Retried == 0 {
		return fmt.Sprint(j.Failed)
	}
	return fmt.Sprintf("%d (%d retried)", j.Failed, j.Retried)
}

func exitText(j *v1.Job) string {
	if j.Ended == 0 {
		return "-"
	}
	return fmt.Sprint(j.Exit)
}

// commandStart returns the beginning of a command, for a table.
func commandStart(command []string) string {
	s := strings.Join(command, " ")
	s = grid.Clean(s, len(s))
	if r := []rune(s); len(r) > 40 {
		return string(r[:39]) + "…"
	}
	return s
}
