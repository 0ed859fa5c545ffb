package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"skep/cmd/skep/jobs"
	"skep/grid"
	"skep/internal/indices"
	v1 "skep/node/api/v1"
)

func (a *app) jobCancelCmd() *cobra.Command {
	var out format
	cmd := a.oneJob("cancel ID [INDICES]", "End a job, or some of its tasks", nil)
	cmd.Args = jobAndTasks
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := a.client()
		if err != nil {
			return err
		}
		defer c.Close()
		if isTerminal(a.err) {
			fmt.Fprint(a.err, "cancelling…")
			defer fmt.Fprint(a.err, "\r\x1b[K")
		}
		if len(args) == 2 {
			x, err := c.CancelTasks(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			return out.print(a.out, &x, func(w *tabwriter.Writer) { fmt.Fprintln(w, cancelledText(&x)) })
		}
		j, err := c.Cancel(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return out.print(a.out, &j, func(w *tabwriter.Writer) {
			if j.Over() {
				fmt.Fprintf(w, "job %s is %s\n", v1.Short(j.ID), j.State)
			} else {
				fmt.Fprintf(w, "job %s is being cancelled: %d of %d tasks have ended\n", v1.Short(j.ID), j.Ended, j.Count)
			}
		})
	}
	cmd.Long = "End a job, or with INDICES only those tasks of it, as in " + indices.Grammar + ": a task's index is\n" +
		"that of skep job describe.\n\n" +
		"When it returns, nothing of what it ended can start any more. Tasks that had ended stay as they are.\n" +
		"A cancelled task ends with 130, which is part of the job's exit code like that of any other task;\n" +
		"max_failures does not count it."
	outputFlag(cmd, &out)
	return cmd
}

// cancelledText says what became of the tasks that were to be cancelled.
func cancelledText(x *v1.TaskChange) string {
	text := fmt.Sprintf("job %s: %s cancelled", v1.Short(x.Job.ID), english.Plural(x.Count, "task is", "tasks are"))
	if x.Count > 0 {
		text += ": " + x.Tasks
	}
	if x.Ended != "" {
		text += "; already ended: " + x.Ended
	}
	return text
}

func (a *app) jobRetryCmd() *cobra.Command {
	var out format
	var failed bool
	cmd := a.oneJob("retry ID [--failed | INDICES]", "Run tasks of a job again that have ended", nil)
	cmd.Args = jobAndTasks
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		tasks := strings.Join(args[1:], "")
		if failed && tasks != "" {
			return fmt.Errorf("--failed and INDICES %q: want one of them", tasks)
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		defer c.Close()
		x, err := c.RetryTasks(cmd.Context(), args[0], tasks)
		if err != nil {
			return err
		}
		return out.print(a.out, &x, func(w *tabwriter.Writer) {
			fmt.Fprintf(w, "job %s: %s again: %s\n", v1.Short(x.Job.ID),
				english.Plural(x.Count, "task runs", "tasks run"), x.Tasks)
		})
	}
	cmd.Long = "Run tasks of a job again that have ended: those that failed, or those of INDICES, as in\n" +
		indices.Grammar + ", however they ended. The job may be over or cancelled: it goes on with these tasks, until\n" +
		"they have ended again.\n\n" +
		"The new end of a task takes the place of the earlier one, with its output and its files. Until then the task has\n" +
		"none, but for what skep job logs shows of the earlier end while the task waits. Each task has its retries anew.\n" +
		"Refused where tasks run at most once (retries: 0 without rerun: true, or a streamed standard input), for tasks\n" +
		"that have not ended, and where max_failures would not be kept."
	cmd.Flags().BoolVar(&failed, "failed", false, "the tasks that failed and were not cancelled, as without INDICES")
	outputFlag(cmd, &out)
	return cmd
}

// jobAndTasks checks the arguments of a verb about a job or some tasks of it.
func jobAndTasks(cmd *cobra.Command, args []string) error {
	if len(args) < 1 || len(args) > 2 {
		return fmt.Errorf("%s: want one job, by ID, name, or last, and perhaps the indices of tasks, as in %s", cmd.Name(),
			indices.Grammar)
	}
	if len(args) == 2 {
		if _, err := indices.Parse(args[1], grid.MaxCount); err != nil {
			return fmt.Errorf("INDICES %.80q: %w", args[1], err)
		}
	}
	return jobs.CheckRef(args[0])
}
