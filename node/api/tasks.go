package api

import (
	"bufio"
	"context"
	"io"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"skep/grid"
	"skep/node"
	v1 "skep/node/api/v1"
	"skep/node/checkpoint"
)

type pageIn struct {
	Ref
	From  uint32 `query:"from" doc:"Index of the first task."`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"1000"`
}

func (s *Server) listTasks(ctx context.Context, in *pageIn) (*v1.TaskPage, error) {
	page := &v1.TaskPage{Tasks: []v1.Task{}}
	var spec *grid.JobSpec
	err := s.eachTask(ctx, in, func(j *node.JobView, t *node.TaskView, name names) {
		spec = j.Spec
		page.Tasks = append(page.Tasks, taskOf(t, name, s.b.Wall()))
	}, &page.Job, &page.Next)
	if err == nil && spec != nil && spec.Array != nil {
		lines := s.linesOf(ctx, spec, page.Tasks)
		for i := range page.Tasks {
			addValues(&page.Tasks[i], spec.Array, lines)
		}
	}
	return page, err
}

// addValues adds a task's values. Of the lines, those that are known.
func addValues(t *v1.Task, a *grid.Array, lines map[int]string) {
	line, known := lines[a.Line(t.Index)]
	t.Values = make(map[string]string, len(a.Axes))
	for _, v := range a.Values(t.Index, line) {
		if v.Name != grid.LineVariable || known {
			t.Values[v.Name] = v.Value
		}
	}
}

// linesOf returns the lines of tasks by their numbers; none if this node does not keep the file.
func (s *Server) linesOf(ctx context.Context, spec *grid.JobSpec, tasks []v1.Task) map[int]string {
	path := spec.Array.LinesPath()
	at := slices.IndexFunc(spec.Inputs, func(f grid.File) bool { return f.Path == path })
	if path == "" || at < 0 {
		return nil
	}
	b, err := s.openBlob(ctx, spec.Inputs[at].Blob)
	if err != nil {
		return nil
	}
	defer b.Close()
	wanted := make(map[int]bool, len(tasks))
	last := 0
	for i := range tasks {
		n := spec.Array.Line(tasks[i].Index)
		wanted[n], last = true, max(last, n)
	}
	lines := make(map[int]string, len(wanted))
	text := bufio.NewScanner(io.LimitReader(b, int64(grid.MaxLines)))
	for i := 0; i <= last && text.Scan(); i++ {
		if wanted[i] {
			lines[i] = text.Text()
		}
	}
	return lines
}

// eachTask calls f with the tasks of a page and returns the job's whole ID and where the next page begins.
func (s *Server) eachTask(ctx context.Context, in *pageIn, f func(*node.JobView, *node.TaskView, names), whole *string,
	next **uint32) error {
	id, err := grid.ParseJobID(in.ID)
	if err != nil {
		return huma.Error422UnprocessableEntity(err.Error())
	}
	*whole = id.String()
	found, why := false, ""
	err = s.b.Read(ctx, func(v *node.Node, now gridTime) {
		var j node.JobView
		if j, found = v.Job(id); !found {
			why = v.Gone(id)
			return
		}
		name := namesOf(v, now)
		end := min(uint64(in.From)+uint64(in.Limit), uint64(j.Spec.Count))
		for i := uint64(in.From); i < end; i++ {
			if t, ok := v.Task(grid.TaskID{Job: id, Index: uint32(i)}); ok {
				f(&j, &t, name)
			}
		}
		if end < uint64(j.Spec.Count) {
			n := uint32(end)
			*next = &n
		}
	})
	if err == nil && !found {
		err = gone(id, why)
	}
	return err
}

// names maps nodes to their names.
type names map[grid.NodeID]string

func namesOf(v *node.Node, now gridTime) names {
	n := names{}
	for _, p := range v.Peers(now, nil) {
		n[p.Ad.Node] = p.Ad.Name
	}
	return n
}

func nodeText(id grid.NodeID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

func taskOf(t *node.TaskView, name names, wall grid.Wall) v1.Task {
	out := v1.Task{
		Index: t.ID.Task.Index, State: t.State.String(), Attempt: t.ID.Attempt.String(),
		Node: nodeText(t.Worker), Name: name[t.Worker], Copy: nodeText(t.Backup), Lost: t.Lost, Ranks: t.Ranks,
		Placed: moment(t.Placed), Began: moment(t.Began), Done: moment(t.Done),
	}
	switch {
	case t.Standing.Suspended:
		out.Phase, out.Progress = v1.PhaseSuspended, v1.ProgressOf(t.Said)
	case t.Runs:
		out.Phase, out.Progress = v1.PhaseRunning, v1.ProgressOf(t.Said)
	case t.State == grid.Placed:
		out.Phase = v1.PhaseQueued
	}
	out.Standing = standingOf(t, wall)
	out.Option = v1.OptionIndex(t.Option)
	if t.State != grid.Ended && t.Waits.Why != grid.WhyNone {
		out.Waits = &v1.Refusal{Reason: t.Waits.Why.String(), Detail: t.Waits.Detail}
	}
	for _, f := range t.Failures {
		out.Failures = append(out.Failures, v1.Failure{Attempt: f.Attempt.String(), Node: nodeText(f.Worker),
			Name: name[f.Worker], Cause: f.Cause.String(), Exit: f.Exit, Line: f.Line, Done: moment(f.Done)})
	}
	out.RetryAt = moment(t.Again)
	if c := &t.Checkpoint; *c != (checkpoint.View{}) {
		out.Checkpoint = &v1.Checkpoint{Step: c.Step, From: c.From, Alone: c.Alone, Problem: c.Why}
	}
	if r := t.Result; r != nil {
		out.Result = &v1.Result{
			Cause: r.Cause.String(), Exit: r.Exit, Error: r.Error,
			Waited: r.Waited.Seconds(), Wall: r.Wall.Seconds(), CPU: r.CPU.Seconds(), MaxRSS: int64(r.MaxRSS),
			Stdout:  v1.Output{Size: int64(r.Stdout.Size), Dropped: int64(r.Stdout.Dropped)},
			Stderr:  v1.Output{Size: int64(r.Stderr.Size), Dropped: int64(r.Stderr.Dropped)},
			Outputs: v1.FilesOf(r.Outputs),
		}
	}
	return out
}

// standingOf describes what the node of a task has said of where it stands there.
func standingOf(t *node.TaskView, wall grid.Wall) (out v1.Standing) {
	s := &t.Standing
	told := wall.At(s.Heard).UTC()
	if s.Order != "" {
		out.Line = &v1.Line{Order: s.Order, More: grid.MaxPlace, Told: told}
		if s.Place > 0 {
			before := s.Place - 1
			out.Line.Before, out.Line.More = &before, 0
		}
	}
	if x := s.Suspensions; x != nil {
		out.Suspensions = &v1.Suspensions{Times: x.Times, Stood: x.Stood.Seconds(), Job: x.By.String(),
			Priority: x.Bid.Number(), Told: told}
	}
	return out
}
