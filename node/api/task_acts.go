package api

import (
	"cmp"
	"context"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"skep/grid"
	"skep/internal/indices"
	"skep/node"
	v1 "skep/node/api/v1"
)

// Ends of the paths of requests about some tasks. That to cancel them is no parameter of the cancellation of a job: a
// node of an earlier version would not know it, and cancel the whole job.
const (
	cancelTasksPath = "/tasks/cancel"
	retryTasksPath  = "/tasks/retry"
)

type tasksIn struct {
	Ref
	Tasks string `query:"tasks" required:"true" doc:"Indices of the tasks, as in 0-9,12,20-30:2."`
}

// cancelTasks ends those of the named tasks that have not ended.
func (s *Server) cancelTasks(ctx context.Context, in *tasksIn) (*v1.TaskChange, error) {
	id, err := grid.ParseJobID(in.ID)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	tasks, err := indices.Parse(in.Tasks, grid.MaxCount)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity("tasks: " + err.Error())
	}
	before, err := s.endsOf(ctx, id, tasks)
	if err != nil {
		return nil, err
	}
	if err := s.b.Cancel(ctx, id, tasks); err != nil {
		return nil, backendError(ctx, err)
	}
	after, err := s.endsOf(ctx, id, tasks)
	if err != nil {
		return nil, err
	}
	var cancelled, ended []uint32
	for k, index := range after.index {
		if after.cancelled[k] && !before.ended[k] {
			cancelled = append(cancelled, index)
		} else {
			ended = append(ended, index)
		}
	}
	out := &v1.TaskChange{Tasks: indices.Of(cancelled).String(), Count: len(cancelled), Ended: indices.Of(ended).String()}
	j, err := s.job(ctx, id, false)
	if err == nil {
		out.Job = *j
	}
	return out, err
}

type retryIn struct {
	Ref
	Tasks  string `query:"tasks" doc:"Indices of the tasks, as in 0-9,12,20-30:2; none: those that failed."`
	Failed bool   `query:"failed" doc:"Those that failed: they ended with a code other than 0 and were not cancelled."`
}

// retryTasks has tasks run again that have ended: the named ones, or those that failed.
func (s *Server) retryTasks(ctx context.Context, in *retryIn) (*v1.TaskChange, error) {
	id, err := grid.ParseJobID(in.ID)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	if in.Failed && in.Tasks != "" {
		return nil, huma.Error422UnprocessableEntity("tasks " + quote(in.Tasks) + " and failed: want one of them")
	}
	j, err := s.getJob(ctx, &in.Ref)
	if err != nil {
		return nil, err
	}
	tasks := indices.Set{{First: 0, Last: uint32(j.Count - 1), Step: 1}}
	if in.Tasks != "" {
		if tasks, err = indices.Parse(in.Tasks, grid.MaxCount); err != nil {
			return nil, huma.Error422UnprocessableEntity("tasks: " + err.Error())
		}
	} else {
		e, err := s.endsOf(ctx, id, tasks)
		if err != nil {
			return nil, err
		}
		var failed []uint32
		for k, index := range e.index {
			if e.failed[k] {
				failed = append(failed, index)
			}
		}
		if tasks = indices.Of(failed); len(tasks) == 0 {
			return nil, huma.Error422UnprocessableEntity("job " + id.Short() +
				": none of its tasks has failed: name those that are to be run again by their indices")
		}
	}
	if err := s.haveInputs(ctx, id); err != nil {
		return nil, err
	}
	if err := s.b.Retry(ctx, id, tasks); err != nil {
		return nil, backendError(ctx, err)
	}
	out := &v1.TaskChange{Tasks: tasks.String(), Count: tasks.Len()}
	if j, err = s.job(ctx, id, false); err == nil {
		out.Job = *j
	}
	return out, err
}

// haveInputs reports the first input of a job that this node does not keep.
func (s *Server) haveInputs(ctx context.Context, id grid.JobID) error {
	var inputs []grid.File
	err := s.b.Read(ctx, func(v *node.Node, _ gridTime) {
		if j, found := v.Job(id); found {
			inputs = j.Spec.Inputs
		}
	})
	if err != nil {
		return asProblem(err)
	}
	for i := range inputs {
		if !s.b.Blobs().Has(inputs[i].Blob) {
			return huma.Error409Conflict("job " + id.Short() + ": its input " + quote(inputs[i].Path) +
				" is gone from node " + s.self.Short() + ": submit the job again")
		}
	}
	return nil
}

// ends are how some tasks of a job stand, in the order of their indices.
type ends struct {
	index            []uint32
	ended, cancelled []bool
	failed           []bool // ended with a code other than 0, and not cancelled
}

// endsAtOnce is the number of tasks that are read between two steps of the node.
const endsAtOnce = 1000

// endsOf returns which of the tasks have ended, and which were cancelled.
func (s *Server) endsOf(ctx context.Context, id grid.JobID, tasks indices.Set) (e ends, err error) {
	for k := range tasks.Len() {
		e.index = append(e.index, tasks.At(k))
	}
	slices.Sort(e.index)
	for part := range slices.Chunk(e.index, endsAtOnce) {
		found, why := false, ""
		err := s.b.Read(ctx, func(v *node.Node, _ gridTime) {
			if _, found = v.Job(id); !found {
				why = v.Gone(id)
				return
			}
			for _, i := range part {
				t, _ := v.Task(grid.TaskID{Job: id, Index: i})
				e.ended = append(e.ended, t.State == grid.Ended && t.Result != nil)
				e.cancelled = append(e.cancelled, t.Result != nil && t.Result.Cause == grid.Cancelled)
				e.failed = append(e.failed, t.Result != nil && t.Result.Cause != grid.Cancelled && t.Result.Exit != 0)
			}
		})
		if err != nil || !found {
			return e, cmp.Or[error](asProblem(err), gone(id, why))
		}
	}
	return e, nil
}

// gone is the error about a job that a node does not know any more, and why not; "" = nothing is known of that.
func gone(id grid.JobID, why string) error { return huma.Error404NotFound(goneText(id, why)) }

func goneText(id grid.JobID, why string) string {
	if why != "" {
		return "job " + id.String() + ": is gone: " + why
	}
	return "job " + id.String() + ": is not known: it never was here, or it is over and has gone since (keep)"
}
