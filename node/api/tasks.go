package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"skep/grid"
	"skep/node"
	v1 "skep/node/api/v1"
)

type pageIn struct {
	Ref
	From  uint32 `query:"from" doc:"Index of the first task."`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"1000"`
}

func (s *Server) listTasks(ctx context.Context, in *pageIn) (*v1.TaskPage, error) {
	page := &v1.TaskPage{Tasks: []v1.Task{}}
	err := s.eachTask(ctx, in, func(_ *node.JobView, t *node.TaskView, name names) {
		page.Tasks = append(page.Tasks, taskOf(t, name))
	}, &page.Job, &page.Next)
	return page, err
}

// eachTask calls f with the tasks of a page and returns the job's whole ID and where the next page begins.
func (s *Server) eachTask(ctx context.Context, in *pageIn, f func(*node.JobView, *node.TaskView, names), whole *string,
	next **uint32) error {
	id, err := grid.ParseJobID(in.ID)
	if err != nil {
		return huma.Error422UnprocessableEntity(err.Error())
	}
	*whole = id.String()
	var found bool
	err = s.b.Read(ctx, func(v *node.Node, now gridTime) {
		var j node.JobView
		if j, found = v.Job(id); !found {
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
		err = huma.Error404NotFound("job " + id.String() + ": is not known: it may have been forgotten since")
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

func taskOf(t *node.TaskView, name names) v1.Task {
	out := v1.Task{
		Index: t.ID.Task.Index, State: t.State.String(), Attempt: t.ID.Attempt.String(),
		Node: nodeText(t.Worker), Name: name[t.Worker], Copy: nodeText(t.Backup), Lost: t.Lost,
		Placed: moment(t.Placed), Began: moment(t.Began), Done: moment(t.Done),
	}
	if t.State == grid.Pending && t.Waits.Why != grid.WhyNone {
		out.Waits = &v1.Refusal{Reason: t.Waits.Why.String(), Detail: t.Waits.Detail}
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
