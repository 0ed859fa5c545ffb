package v1

import (
	"fmt"
	"path"

	"skep/grid"
)

// Order says which other jobs a job waits for, and what its tasks read of what those have left.
type Order struct {
	After     []Dependency `json:"after,omitempty" doc:"It starts when these jobs have ended, however."`
	AfterOK   []Dependency `json:"after_ok,omitempty" doc:"It starts when all tasks of these jobs have ended well; if one of them has not, the job is cancelled."`
	AfterEach *Dependency  `json:"after_each,omitempty" doc:"Task i starts when task i of this job, which has as many tasks, has ended well; if it has not, that task is cancelled."`
	JobInputs []JobInput   `json:"job_inputs,omitempty" doc:"Files that tasks of these jobs have left, put into the work folder before the program starts."`
}

// Dependency is a job that another one waits for.
type Dependency struct {
	Job     string   `json:"job" doc:"Its whole ID."`
	Members []string `json:"members,omitempty" doc:"Nodes that keep it, as its description says: they are asked how it has ended. None: its origin alone."`
}

// JobInput is a file that a task of another job has left.
type JobInput struct {
	Job  string `json:"job" doc:"The whole ID of a job that it waits for."`
	Task uint32 `json:"task,omitempty" doc:"Which of its tasks has left the file; of after_each it is the task of the same index."`
	Path string `json:"path" doc:"Of the file among the outputs of that task."`
	To   string `json:"to,omitempty" doc:"Its path in the work folder; path if left out."`
}

// AfterStory is a job that another one waits for, and what is known of it.
type AfterStory struct {
	Job   string   `json:"job"`
	Kind  string   `json:"kind" enum:"after,after_ok,after_each"`
	State string   `json:"state" enum:"waits,met,failed" doc:"met: it has ended as it should; failed: it has not."`
	Tasks uint32   `json:"ended_tasks,omitempty" doc:"Of after_each: tasks whose end is known."`
	Why   string   `json:"reason,omitempty" doc:"Why it has failed."`
	Asked string   `json:"asked_node,omitempty" doc:"Who was asked last."`
	News  *float64 `json:"news_age_seconds,omitempty" doc:"Age of the newest answer; none: there was none."`
}

// grid sets what a job waits for.
func (o *Order) grid(g *grid.JobSpec) error {
	at := map[string]int{}
	add := func(kind grid.AfterKind, d *Dependency) error {
		id, err := grid.ParseJobID(d.Job)
		if err != nil {
			return fmt.Errorf("%v: %w", kind, err)
		}
		x := grid.Dependency{Job: id, Kind: kind}
		for _, text := range d.Members {
			m, err := grid.ParseNodeID(text)
			if err != nil {
				return fmt.Errorf("%v: members of job %s: %w", kind, id.Short(), err)
			}
			x.Members = append(x.Members, m)
		}
		at[d.Job] = len(g.After.Jobs)
		g.After.Jobs = append(g.After.Jobs, x)
		return nil
	}
	for i := range o.After {
		if err := add(grid.AfterAny, &o.After[i]); err != nil {
			return err
		}
	}
	for i := range o.AfterOK {
		if err := add(grid.AfterOK, &o.AfterOK[i]); err != nil {
			return err
		}
	}
	if o.AfterEach != nil {
		if err := add(grid.AfterEach, o.AfterEach); err != nil {
			return err
		}
	}
	for _, in := range o.JobInputs {
		k, known := at[in.Job]
		if !known {
			return fmt.Errorf("job_inputs %q: job %.80q: want one of after, after_ok or after_each", in.Path, in.Job)
		}
		to := in.To
		if to == "" {
			to = in.Path
		}
		g.After.Inputs = append(g.After.Inputs, grid.JobInput{Of: uint32(k), Task: in.Task, Path: path.Clean(in.Path),
			To: path.Clean(to)})
		g.Needs.AddFeature(grid.JobInputsLabel)
	}
	return nil
}

// orderOf converts what a job waits for.
func orderOf(g *grid.JobSpec) (o Order) {
	for k := range g.After.Jobs {
		x := &g.After.Jobs[k]
		d := Dependency{Job: x.Job.String()}
		for _, m := range x.Members {
			d.Members = append(d.Members, m.String())
		}
		switch x.Kind {
		case grid.AfterAny:
			o.After = append(o.After, d)
		case grid.AfterOK:
			o.AfterOK = append(o.AfterOK, d)
		default:
			o.AfterEach = &d
		}
	}
	for _, in := range g.After.Inputs {
		if int(in.Of) < len(g.After.Jobs) {
			o.JobInputs = append(o.JobInputs, JobInput{Job: g.After.Jobs[in.Of].Job.String(), Task: in.Task, Path: in.Path,
				To: in.To})
		}
	}
	return o
}
