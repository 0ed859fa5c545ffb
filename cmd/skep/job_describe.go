package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"skep/cmd/skep/arrays"
	"skep/cmd/skep/bids"
	"skep/cmd/skep/gang"
	"skep/cmd/skep/order"
	"skep/cmd/skep/progress"
	"skep/cmd/skep/resources"
	"skep/cmd/skep/secrets"
	"skep/cmd/skep/weighed"
	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// description is a job with its tasks.
type description struct {
	v1.Job
	Tasks []v1.Task `json:"tasks"`
}

func (a *app) jobDescribeCmd() *cobra.Command {
	var out format
	cmd := a.oneJob("describe ID", "Say everything about a job and its tasks", func(cmd *cobra.Command, ref string) error {
		c, err := a.client()
		if err != nil {
			return err
		}
		defer c.Close()
		d := description{Tasks: []v1.Task{}}
		if d.Job, err = c.Job(cmd.Context(), ref); err != nil {
			return err
		}
		if !isRedacted(&d.Job) {
			err = c.EachTask(cmd.Context(), d.ID, func(t *v1.Task) error {
				d.Tasks = append(d.Tasks, *t)
				return nil
			})
		}
		if err != nil {
			return err
		}
		return out.print(a.out, &d, func(w *tabwriter.Writer) { d.table(w) })
	})
	cmd.Long = "Say everything about a job and its tasks: which wait at a node, which run, and what these say of " +
		"their progress\nin $SKEP_PROGRESS."
	outputFlag(cmd, &out)
	return cmd
}

func (d *description) table(w *tabwriter.Writer) {
	row(w, "job", d.ID)
	if d.Name != "" {
		row(w, "name", d.Name)
	}
	placed := fmt.Sprintf("%d queued, %d running", d.Queued, d.Running)
	if d.Queued+d.Running != d.Placed { // a node of an older version answers, which does not tell them apart
		placed = fmt.Sprintf("%d placed", d.Placed)
	}
	failed := fmt.Sprintf("%d failed", d.Failed)
	if d.Missed > 0 {
		failed += fmt.Sprintf(" (%d missed the deadline)", d.Missed)
	}
	if d.Unaffordable > 0 {
		failed += fmt.Sprintf(" (%d unaffordable)", d.Unaffordable)
	}
	row(w, "state", fmt.Sprintf("%s: %d pending, %s, %d ended, %s", d.State, d.Pending, placed, d.Ended, failed))
	row(w, "origin", d.Origin)
	row(w, "submitter", submitterText(&d.Job))
	row(w, "access", d.Access)
	if len(d.Members) > 0 {
		var members []string
		for _, m := range d.Members {
			members = append(members, v1.Short(m))
		}
		row(w, "kept by", strings.Join(members, ", "))
		if d.Owner != d.Origin && d.Since != nil {
			row(w, "owner", d.Owner, "since "+d.Since.Local().Format(time.DateTime))
		}
	} else if !isRedacted(&d.Job) {
		row(w, "kept by", "its origin alone")
	}
	if d.Stopped != "" {
		row(w, "cancelled", d.Stopped)
	}
	if d.Waits != "" {
		row(w, "waits", d.Waits)
	}
	if d.Behind {
		row(w, "as of", "what was heard last: whoever brings it to its end cannot be asked now")
	}
	if d.Note != "" {
		row(w, "note", d.Note)
	}
	if isRedacted(&d.Job) {
		row(w, "submitted", d.Submitted.Local().Format(time.DateTime), age(time.Since(d.Submitted))+" ago")
		w.Flush()
		fmt.Fprintf(w,
			"\nThe rest is for whoever has the job's capability: the file %s/%s\nin the data folder that it was submitted "+
				"through, or --capability FILE.\n", client.CapabilityFolder, d.ID)
		return
	}
	row(w, "class", d.Class)
	row(w, "command", fmt.Sprintf("%q", d.Command))
	if d.Spec != nil {
		describeSpec(w, d.Spec)
		if d.Spec.Deadline != nil {
			row(w, "deadline", bids.DeadlineText(d.Spec.Deadline, d.Submitted))
		}
		if d.Spec.Budget != nil {
			row(w, "budget", fmt.Sprintf("%d node-seconds", d.Spec.Budget.NodeSeconds))
		}
	}
	row(w, "submitted", d.Submitted.Local().Format(time.DateTime), age(time.Since(d.Submitted))+" ago")
	w.Flush()
	fmt.Fprintln(w)
	head := []any{"TASK", "STATE", "NODE", "ATTEMPT", "WAITED", "RAN", "CPU", "MEMORY", "EXIT", "NOTE"}
	array := d.Spec != nil && d.Spec.Array != nil
	if array {
		head = slices.Insert(head, 1, any("VALUES"))
	}
	options := d.Spec != nil && len(d.Spec.Options) > 0
	if options {
		head = slices.Insert(head, 1, any("OPTION"))
	}
	row(w, head...)
	for i := range d.Tasks {
		cells := taskCells(&d.Tasks[i])
		if array {
			cells = slices.Insert(cells, 1, any(orDash(arrays.Text(arrays.Of(&d.Tasks[i], d.Spec.Array)))))
		}
		if options {
			cells = slices.Insert(cells, 1, any(weighed.OptionOf(&d.Tasks[i])))
		}
		row(w, cells...)
		for k := range d.Tasks[i].Failures {
			row(w, "", failureText(&d.Tasks[i].Failures[k]))
		}
		if t := &d.Tasks[i]; t.Suspensions != nil {
			row(w, "", bids.SuspensionText(t))
		}
		printCheckpoint(w, "\t", &d.Tasks[i])
	}
}

func describeSpec(w io.Writer, s *v1.Spec) {
	needs := fmt.Sprintf("%g cpu", s.Needs.Cores)
	if s.Needs.Memory > 0 {
		needs += ", " + humanize.IBytes(uint64(s.Needs.Memory)) + " memory"
	}
	needs += resources.NeedsText(&s.Needs)
	for _, k := range slices.Sorted(maps.Keys(s.Needs.Labels)) {
		needs += ", " + k + "=" + strings.Join(s.Needs.Labels[k], "|")
	}
	if s.Array != nil {
		row(w, "array", s.Array)
	}
	row(w, "needs", needs)
	for i := range s.Options {
		row(w, fmt.Sprintf("option %d", i), resources.OptionText(&s.Options[i]))
	}
	for _, f := range s.Inputs {
		row(w, "input", f.Path, humanize.IBytes(uint64(max(f.Size, 0))), v1.Short(f.Blob))
	}
	for _, x := range append(order.Rows(s), secrets.Rows(s)...) {
		row(w, x[0], x[1])
	}
	if in := s.Stdin; in != nil && in.Terminal != nil {
		row(w, "stdin", "its submitter's terminal")
	} else if in != nil && in.Stream {
		row(w, "stdin", "streamed by its submitter")
	} else if in != nil {
		row(w, "stdin", humanize.IBytes(uint64(max(in.Size, 0))), v1.Short(in.Blob))
	}
	if s.Timeout > 0 {
		row(w, "timeout", secs(s.Timeout))
	}
	if s.Retries != nil {
		row(w, "retries", *s.Retries)
	}
	if s.MaxFailures > 0 {
		row(w, "max failures", s.MaxFailures)
	}
	if s.Gang != nil {
		row(w, "gang", gang.Text(s.Gang))
	}
	if s.MaxRunning > 0 {
		row(w, "max running", s.MaxRunning)
	}
	if s.Priority != nil {
		row(w, "priority", *s.Priority)
	}
	if s.Rank != "" {
		row(w, "rank", s.Rank)
	}
	if s.OnFailure != nil {
		row(w, "on failure", onFailureText(s.OnFailure))
	}
	if s.Isolation != "" {
		row(w, "isolation", s.Isolation+" at least")
	}
	if s.Network != "" {
		row(w, "network", s.Network)
	}
	if s.Reliability != "" {
		row(w, "reliability", s.Reliability)
	}
	if s.Idempotent {
		row(w, "idempotent", "a task may run twice at once")
	}
}

func taskCells(t *v1.Task) []any {
	where := nodeLabel(t.Name, t.Node)
	if t.Result == nil {
		note := ""
		if t.Waits != nil {
			note = reasonText(t.Waits.Reason, t.Waits.Detail)
		}
		if t.Copy != "" {
			note = "a backup attempt at " + v1.Short(t.Copy)
		}
		if p := t.Progress; p != nil {
			note = strings.TrimSuffix(progress.Text(p)+"; "+note, "; ")
		}
		return []any{t.Index, t.At(), where, t.Attempt, "-", "-", "-", "-", "-", note}
	}
	r := t.Result
	note := ""
	if r.Cause != grid.Exited.String() || r.Error != "" {
		note = causeText(r)
	}
	memory := "-" // too short to be measured, or did not run
	if r.MaxRSS > 0 {
		memory = humanize.IBytes(uint64(r.MaxRSS))
	}
	return []any{t.Index, t.State, where, t.Attempt, secs(r.Waited), secs(r.Wall), secs(r.CPU), memory, r.Exit, note}
}
