package paper

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"skep/sim/reallocation"
)

// A scenario of the world reallocation is a system at a pace, e1@0.64: hours between arrivals of random workloads, the
// factor on the times between arrivals of a trace, or that on the sizes of inputs. A replication is one
// experiment, and all policies are run in each.

// reallocations runs experiments.
func (w *work) reallocations(ctx context.Context, x run, l length) (out []ran, err error) {
	name, pace, _ := strings.Cut(x.scenario, "@")
	s := w.study.reallocations[name]
	at, err := strconv.ParseFloat(pace, 64)
	if err != nil {
		return nil, fmt.Errorf("pace %q: want a number, as in e1@0.64", pace)
	}
	var strategies []reallocation.Strategy
	for _, policy := range x.policies {
		st, err := reallocation.ParseStrategy(policy)
		if err != nil {
			return nil, err
		}
		strategies, out = append(strategies, st), append(out, newRan(policy))
	}
	size := w.study.experiments(x, l)
	experiments, err := s.Run(ctx, strategies, at, w.options.Seed, l.replications, w.progress(size))
	w.done += size
	if experiments == nil {
		if err == nil {
			err = ctx.Err()
		}
		return nil, err
	}
	for _, e := range experiments {
		for k, f := range e {
			out[k].take("OCT", f.Completion)
			out[k].take("demand", f.Demand)
			out[k].take("efficiency", f.Efficiency)
			out[k].take("speedup", f.Speedup)
			out[k].take("delay", f.Delay)
			out[k].take("mean_delay", f.MeanDelay)
			out[k].take("transfer", f.Transfer)
			out[k].take("relative_OCT", f.RelativeCompletion)
			out[k].take("relative_transfer", f.RelativeTransfer)
			out[k].take("execution", f.Execution)
		}
	}
	return out, nil
}

// experiments is how much work a line is: tasks by the number of tasks that a decision looks at.
func (s *Study) experiments(x run, l length) float64 {
	name, _, _ := strings.Cut(x.scenario, "@")
	tasks := float64(s.reallocations[name].Workload.Tasks)
	return tasks * tasks * float64(l.replications*len(x.policies))
}
