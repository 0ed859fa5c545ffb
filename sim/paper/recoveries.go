package paper

import (
	"context"
	"fmt"
	"strings"

	"skep/sim/recovery"
)

// A scenario of the world recovery is a system with so many tasks, e12@640. All policies are run on each task set.

// recoveries runs task sets.
func (w *work) recoveries(ctx context.Context, x run, l length) (out []ran, err error) {
	var strategies []recovery.Strategy
	for _, policy := range x.policies {
		st, err := recovery.ParseStrategy(policy)
		if err != nil {
			return nil, err
		}
		strategies, out = append(strategies, st), append(out, newRan(policy))
	}
	name, _, _ := strings.Cut(x.scenario, "@")
	size := taskSets(x, l)
	sets, err := w.study.recoveries[name].Run(ctx, strategies, nodesOf(x.scenario), w.options.Seed, l.replications,
		w.progress(size))
	w.done += size
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", x.scenario, err)
	case sets == nil:
		return nil, ctx.Err()
	}
	each := max(1, len(sets)/batches)
	for len(sets) >= each {
		for k := range out {
			var of []recovery.Figures
			for _, set := range sets[:each] {
				of = append(of, set[k])
			}
			out[k].recovered(of)
		}
		sets = sets[each:]
	}
	return out, nil
}

// batches is about how many figures a run has: each is the mean of as many task sets, and sets that do not make up a
// figure are left out. Of few tasks in one set none may fail, and then it could not be compared with another.
const batches = 40

// recovered takes what came of task sets as one replication.
func (r *ran) recovered(sets []recovery.Figures) {
	for name, of := range map[string]func(f *recovery.Figures) float64{
		"faults":        func(f *recovery.Figures) float64 { return f.Faults },
		"failures":      func(f *recovery.Figures) float64 { return f.Failures },
		"none":          func(f *recovery.Figures) float64 { return f.None },
		"retry":         func(f *recovery.Figures) float64 { return f.Retry },
		"replication":   func(f *recovery.Figures) float64 { return f.Replication },
		"end":           func(f *recovery.Figures) float64 { return f.End },
		"profit":        func(f *recovery.Figures) float64 { return f.Profit },
		"value_delay":   func(f *recovery.Figures) float64 { return f.ValueDelay },
		"density_delay": func(f *recovery.Figures) float64 { return f.DensityDelay },
	} {
		sum := 0.0
		for k := range sets {
			sum += of(&sets[k])
		}
		r.take(name, sum/float64(len(sets)))
	}
}

// taskSets is how much work a line is: tasks by the number of tasks that an allocation looks at.
func taskSets(x run, l length) float64 {
	tasks := float64(nodesOf(x.scenario))
	return tasks * tasks * float64(l.replications*len(x.policies))
}
