package api

import (
	"context"
	"slices"
	"strings"

	"skep/grid"
	"skep/node"
	"skep/node/api/v1"
)

// explainJob tells the story of a job's tasks, and which of the nodes known now could run them.
func (s *Server) explainJob(ctx context.Context, in *pageIn) (*v1.Explanation, error) {
	ex := &v1.Explanation{Tasks: []v1.TaskStory{}, Nodes: []v1.Fitness{}}
	wall := s.b.Wall()
	var spec *grid.JobSpec
	var id string
	err := s.eachTask(ctx, in, func(j *node.JobView, t *node.TaskView, name names) {
		if spec == nil {
			spec, ex.Job = j.Spec, jobOf(j, true)
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
		j, err := s.getJob(ctx, &ref{id})
		if err != nil {
			return nil, err
		}
		ex.Job = *j
		return ex, nil
	}
	err = s.read(ctx, func(v view, now gridTime) {
		for _, p := range v.Peers(now, nil) {
			ex.Nodes = append(ex.Nodes, fitnessOf(spec, &p))
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
	r := unfit(spec, p.Ad)
	if r.Why == grid.WhyNone && !p.Self && !p.Connected {
		r.Why = grid.WhyGone
	}
	f := v1.Fitness{Node: p.Ad.Node.String(), Name: p.Ad.Name, Fits: r.Why == grid.WhyNone, Detail: r.Detail, News: p.Age.Seconds()}
	if !f.Fits {
		f.Reason = r.Why.String()
	}
	return f
}

// unfit says why a node that describes itself so could never run the job, or does not now.
func unfit(spec *grid.JobSpec, ad *grid.Ad) grid.Refusal {
	switch {
	case !slices.Contains(ad.Engines, spec.Engine):
		return grid.Refusal{Why: grid.WhyEngine, Detail: spec.Engine}
	case ad.Capacity.CPU < spec.Needs.CPU:
		return grid.Refusal{Why: grid.WhyCPU, Detail: "has " + ad.Capacity.String()}
	case ad.Capacity.Memory < spec.Needs.Memory:
		return grid.Refusal{Why: grid.WhyMemory, Detail: "has " + ad.Capacity.String()}
	case ad.Draining || ad.Leaving:
		return grid.Refusal{Why: grid.WhyDrain}
	}
	for _, n := range spec.Needs.Labels {
		v, ok := ad.Label(n.Key)
		if !ok {
			return grid.Refusal{Why: grid.WhyLabel, Detail: "has no " + n.Key + ", want " + strings.Join(n.Values, " or ")}
		}
		if !slices.Contains(n.Values, v) {
			return grid.Refusal{Why: grid.WhyLabel, Detail: n.Key + "=" + v + ", want " + strings.Join(n.Values, " or ")}
		}
	}
	return grid.Refusal{}
}
