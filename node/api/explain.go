package api

import (
	"context"
	"slices"

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
	var stories []taskTraces
	var name names
	err := s.eachTask(ctx, in, func(j *node.JobView, t *node.TaskView, known names) {
		if spec == nil {
			spec, ex.Job, name = j.Spec, jobOf(j, true, true), known
		}
		task := taskOf(t, name, wall)
		if spec.Array != nil {
			addValues(&task, spec.Array, nil)
		}
		ex.Tasks = append(ex.Tasks, v1.TaskStory{Task: task, Steps: []v1.Step{}, TooLate: tooLateOf(t, wall)})
		stories = append(stories, taskTraces{t.ID.Task, t.Traces})
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
		weighed := v.Decisions(stories[0].id.Job, stories[0].id.Index, stories[len(stories)-1].id.Index+1)
		for i := range stories {
			ex.Tasks[i].Steps = stories[i].steps(decisionsOf(stories[i].id, weighed), name, wall)
		}
		ex.After = aftersOf(v.AwaitsOf(now, stories[0].id.Job))
		class := grid.ClassOf(spec)
		for _, p := range v.Peers(now, nil) {
			f := fitnessOf(spec, &p)
			if r := v.Blacklisted(now, class, p.Ad.Node); f.Fits && r.Why != grid.WhyNone {
				f.Fits, f.Reason, f.Detail = false, r.Why.String(), r.Detail
			}
			if f.Fits && v.WouldExpose(p.Ad.Node, spec) {
				f.Fits, f.Reason = false, grid.WhyAccess.String()
			}
			ex.Nodes = append(ex.Nodes, f)
		}
	})
	ex.Nodes = s.versions().Fitness(ex.Nodes)
	return ex, err
}

// aftersOf describes what a job waits for.
func aftersOf(all []node.Awaits) (out []v1.AfterStory) {
	for _, x := range all {
		a := v1.AfterStory{Job: x.Job.String(), Kind: x.Kind.String(), State: "waits", Tasks: x.Tasks, Why: x.Why}
		switch {
		case x.Met:
			a.State = "met"
		case x.Ended:
			a.State = "failed"
		case x.Asking:
			if a.Asked = nodeText(x.Asked); x.Age >= 0 {
				age := x.Age.Seconds()
				a.News = &age
			}
		}
		out = append(out, a)
	}
	return out
}

// tooLateOf says since when a task cannot end by its job's deadline; nil = nothing says that it cannot. What was
// expected counts no more once the task runs, nor if it has ended otherwise.
func tooLateOf(task *node.TaskView, wall grid.Wall) (out *v1.TooLate) {
	missed := task.Result != nil && task.Result.Cause == grid.Missed
	if task.Runs || task.State == grid.Ended && !missed {
		return nil
	}
	for i := range task.Traces {
		switch t := &task.Traces[i]; {
		case t.What == grid.TraceWait && t.Refusal.Why == grid.WhyDeadline:
			if out == nil {
				out = &v1.TooLate{Since: wall.At(t.At).UTC(), Why: t.Refusal.Detail}
			}
		case t.What == grid.TraceWait, t.What == grid.TraceChosen: // it was found possible again
			out = nil
		}
	}
	return out
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
	r := discovery.Explain(spec, p.Ad)
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

// taskTraces are the entries of a task's history.
type taskTraces struct {
	id     grid.TaskID
	traces []grid.Trace
}

// decisionsOf returns those of a task, oldest first.
func decisionsOf(id grid.TaskID, all []grid.Decision) (own []*grid.Decision) {
	for i := range all {
		if all[i].Task == id {
			own = append(own, &all[i])
		}
	}
	return own
}

// steps describes the entries, each with the decision that belongs to it: that of the same time and node. Of a task
// that its policy keeps, the newest such decision before the next entry: it is decided again and again.
func (x *taskTraces) steps(decisions []*grid.Decision, name names, wall grid.Wall) []v1.Step {
	steps := []v1.Step{}
	for i := range x.traces {
		t := &x.traces[i]
		step := stepOf(t, name, wall)
		for _, d := range decisions {
			before := i+1 == len(x.traces) || d.At <= x.traces[i+1].At
			kept := t.What == grid.TraceWait && d.Why == grid.VerdictKept && d.At >= t.At && before
			placed := t.What == grid.TraceChosen && d.At == t.At && len(d.Nodes) > 0 && d.Nodes[0].Chosen &&
				d.Nodes[0].Node == t.Node
			if kept || placed {
				addDecision(&step, d, name)
			}
			if t.What == grid.TraceRefused && d.Why == grid.VerdictPriced && d.At == t.At && d.Nodes[0].Node == t.Node {
				step.Prices = v1.PricesOf(d.Prices, d.Nodes[0].Options)
			}
		}
		steps = append(steps, step)
	}
	return steps
}

func addDecision(step *v1.Step, d *grid.Decision, name names) {
	step.Why, step.Tied, step.More, step.Nodes = d.Why.String(), d.Tied, d.More, nil
	for i := range d.Nodes {
		step.Nodes = append(step.Nodes, consideredOf(&d.Nodes[i], name))
	}
	step.Idle = nil
	if at := idleInstead(d); at >= 0 {
		step.Idle = &step.Nodes[at]
	}
}

// idleInstead returns the index of the idle node that would be done soonest, where a task waits at another one; −1 if
// it does not wait, or none is idle.
func idleInstead(d *grid.Decision) int {
	waits := d.Why == grid.VerdictKept || len(d.Nodes) > 0 && !d.Nodes[0].Idle()
	if !waits {
		return -1
	}
	return slices.IndexFunc(d.Nodes, func(c grid.Considered) bool { return !c.Chosen && c.Idle() })
}

func consideredOf(c *grid.Considered, name names) v1.Considered {
	return v1.Considered{Node: nodeText(c.Node), Name: name[c.Node], ECT: c.ECT().Seconds(), Ready: c.Ready.Seconds(),
		Run: c.Run.Seconds(), Move: c.Move.Seconds(), Charged: c.Charged.Seconds(), Basis: c.Basis.String(),
		Results: c.Results, News: c.News.Seconds(), Asked: c.Asked, Chosen: c.Chosen, Price: c.Price.Number(),
		Option: v1.OptionIndex(c.Option), Options: v1.OptionEstimates(c.Options)}
}
