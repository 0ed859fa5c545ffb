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
	outputFlag(cmd, &out)
	return cmd
}

func (d *description) table(w *tabwriter.Writer) {
	row(w, "job", d.ID)
	if d.Name != "" {
		row(w, "name", d.Name)
	}
	row(w, "state", fmt.Sprintf("%s: %d pending, %d placed, %d ended, %d failed", d.State, d.Pending, d.Placed, d.Ended,
		d.Failed))
	row(w, "origin", d.Origin)
	row(w, "submitter", submitterText(&d.Job))
	row(w, "access", d.Access)
	if len(d.Members) > 0 {
		var members []string
		for _, m := range d.Members {
			members = append(members, short(m))
		}
		row(w, "kept by", strings.Join(members, ", "))
		if d.Owner != d.Origin && d.Since != nil {
			row(w, "owner", d.Owner, "since "+d.Since.Local().Format(time.DateTime))
		}
	} else if !isRedacted(&d.Job) {
		row(w, "kept by", "its origin alone")
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
	}
	row(w, "submitted", d.Submitted.Local().Format(time.DateTime), age(time.Since(d.Submitted))+" ago")
	w.Flush()
	fmt.Fprintln(w)
	row(w, "TASK", "STATE", "NODE", "ATTEMPT", "WAITED", "RAN", "CPU", "MEMORY", "EXIT", "NOTE")
	for i := range d.Tasks {
		taskRow(w, &d.Tasks[i])
	}
}

func describeSpec(w io.Writer, s *v1.Spec) {
	needs := fmt.Sprintf("%g cpu", s.Needs.Cores)
	if s.Needs.Memory > 0 {
		needs += ", " + humanize.IBytes(uint64(s.Needs.Memory)) + " memory"
	}
	for _, k := range slices.Sorted(maps.Keys(s.Needs.Labels)) {
		needs += ", " + k + "=" + strings.Join(s.Needs.Labels[k], "|")
	}
	row(w, "needs", needs)
	for _, f := range s.Inputs {
		row(w, "input", f.Path, humanize.IBytes(uint64(max(f.Size, 0))), short(f.Blob))
	}
	if s.Timeout > 0 {
		row(w, "timeout", secs(s.Timeout))
	}
	if s.Retries != nil {
		row(w, "retries", *s.Retries)
	}
	if s.Isolation != "" {
		row(w, "isolation", s.Isolation+" at least")
	}
	if s.Network != "" {
		row(w, "network", s.Network)
	}
	if s.Idempotent {
		row(w, "idempotent", "a task may run twice at once")
	}
}

func taskRow(w io.Writer, t *v1.Task) {
	where := nodeLabel(t.Name, t.Node)
	if t.Result == nil {
		note := ""
		if t.Waits != nil {
			note = reasonText(t.Waits.Reason, t.Waits.Detail)
		}
		if t.Copy != "" {
			note = "a backup attempt at " + short(t.Copy)
		}
		row(w, t.Index, t.State, where, t.Attempt, "-", "-", "-", "-", "-", note)
		return
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
	row(w, t.Index, t.State, where, t.Attempt, secs(r.Waited), secs(r.Wall), secs(r.CPU), memory, r.Exit, note)
}
