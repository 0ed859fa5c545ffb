package api

import (
	"context"

	"skep/discovery"
	"skep/grid"
	"skep/node"
	v1 "skep/node/api/v1"
)

// explainJob returns the traces of a job's tasks, and which of the nodes known now could run them.
func (s *Server) explainJob(ctx context.Context, in *pageIn) (*v1.Explanation, error) {
	ex := &v1.Explanation{Tasks: []v1.TaskStory{}, Nodes: []v1.Fitness{}}
	wall := s.b.Wall()
	var spec *grid.JobSpec
	var id string
	err := s.eachTask(ctx, in, func(j *node.JobView, t *node.TaskView, name names) {
		if spec == nil {
			spec, ex.Job = j.Spec, jobOf(j, true, true)
		}
		story := v1.TaskStory{Task: taskOf(t, name), Steps: []v1.Step{}}
		for i := range t.Traces {
			story.Steps = append(story.Steps, stepOf(&t.Traces[i], name, wall))
		}
		ex.Tasks = append(ex.Tasks, story)
	}, &id, &ex.Next)
	if err != nil {
		return nil, err
	}
	if spec == nil { // a page beyond the last task
		j, err := s.getJob(ctx, &Ref{id})
		if err != nil {
			return nil, err
		}
		ex.Job = *j
		return ex, nil
	}
	err = s.b.Read(ctx, func(v *node.Node, now gridTime) {
		for _, p := range v.Peers(now, nil) {
			f := fitnessOf(spec, &p)
			if r := v.Blacklisted(now, grid.ClassOf(spec), p.Ad.Node); f.Fits && r.Why != grid.WhyNone {
				f.Fits, f.Reason, f.Detail = false, r.Why.String(), r.Detail
			}
			if f.Fits && v.WouldExpose(p.Ad.Node, spec) {
				f.Fits, f.Reason = false, grid.WhyAccess.String()
			}
			ex.Nodes = append(ex.Nodes, f)
		}
	})
	return ex, err
}

func stepOf(t *grid.Trace, name names, wall grid.Wall) v1.Step {
	out := v1.Step{At: wall.At(t.At).UTC(), What: t.What.String(), Node: nodeText(t.Node), Name: name[t.Node],
		Detail: t.Refusal.Detail, ECT: t.ECT.Seconds(), News: t.News.Seconds(), Asked: t.Asked}
	if t.Refusal.Why != grid.WhyNone {
		out.Reason = t.Refusal.Why.String()
	}
	return out
}

func fitnessOf(spec *grid.JobSpec, p *node.PeerView) v1.Fitness {
	r := discovery.Match(&spec.Needs, spec.Engine, p.Ad)
	if r.Why == grid.WhyNone {
		r = discovery.Now(&spec.Needs, p.Ad)
	}
	if r.Why == grid.WhyNone && !p.Self && !p.Connected {
		r.Why = grid.WhyGone
	}
	f := v1.Fitness{Node: p.Ad.Node.String(), Name: p.Ad.Name, Fits: r.Why == grid.WhyNone, Detail: r.Detail,
		News: p.Age.Seconds()}
	if !f.Fits {
		f.Reason = r.Why.String()
	}
	return f
}
