package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

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
				err = out.print(a.out, all, func(w *tabwriter.Writer) {
					jobTable(w, all.Jobs, !filter.Here, out.width(a.out))
				})
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

// leastNameWidth is how much of a job's name is left where the table is too wide.
const leastNameWidth = 8

// jobTable prints jobs; with origins also the node that each was submitted to. In so many columns, 0 = any number,
// names leave room for the numbers of tasks.
func jobTable(w io.Writer, list []v1.ListedJob, origins bool, width int) {
	const counts, node = 9, 13 // where the numbers of tasks end, and where the origin is
	rows := [][]string{{"JOB", "NAME", "STATE", "TASKS", "ENDED", "FAILED", "RUNNING", "QUEUED", "PENDING", "EXIT",
		"RETRIED", "AGE", "USER", "NODE", "COMMAND"}}
	for i := range list {
		j := &list[i].Job
		rows = append(rows, []string{v1.Short(j.ID), orDash(grid.Clean(j.Name, grid.MaxText)), j.State,
			strconv.Itoa(j.Count), strconv.Itoa(j.Ended), strconv.Itoa(j.Failed), strconv.Itoa(j.Running),
			strconv.Itoa(j.Queued), strconv.Itoa(j.Pending), exitText(j), strconv.Itoa(j.Retried),
			age(time.Since(j.Submitted)), userText(j),
			cmp.Or(list[i].OriginName, v1.Short(j.Origin)), orDash(commandStart(j.Command))})
	}
	if width > 0 {
		shortenNames(rows, 1, width-columnsWidth(rows, counts))
	}
	for _, cells := range rows {
		if !origins {
			cells = slices.Delete(cells, node, node+1)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
}

// columnsWidth returns the width of the first columns of a table, with the gaps between them.
func columnsWidth(rows [][]string, columns int) int {
	sum := 2 * (columns - 1)
	for i := range columns {
		most := 0
		for _, cells := range rows {
			most = max(most, utf8.RuneCountInString(cells[i]))
		}
		sum += most
	}
	return sum
}

// shortenNames makes a column narrower by what is too much, where its cells allow it.
func shortenNames(rows [][]string, column, room int) {
	longest := 0
	for _, cells := range rows {
		longest = max(longest, utf8.RuneCountInString(cells[column]))
	}
	most := max(longest+min(room, 0), leastNameWidth)
	for _, cells := range rows {
		if r := []rune(cells[column]); len(r) > most {
			cells[column] = string(r[:most-1]) + "…"
		}
	}
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
