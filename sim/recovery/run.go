package recovery

import (
	"context"
	"fmt"
	"sync/atomic"

	"gonum.org/v1/gonum/stat"

	"skep/balance/utility"
	"skep/sim/replicate"
)

// Figures are what came of an experiment under a strategy. Shares are of the tasks.
type Figures struct {
	Faults      float64 // share whose run failed
	Failures    float64 // share that failed with it
	None        float64 // share of each technique
	Retry       float64
	Replication float64
	End         float64 // of the last task, seconds
	Profit      float64 // value of what did not fail, over the values of the best options of all

	// Correlations with the time until the start: of the value of the best option, and of that value over the length.
	ValueDelay, DensityDelay float64
}

// MaxTasks bounds the tasks of an experiment.
const MaxTasks = 100_000

// Run runs experiments of so many tasks under strategies, with seeds from one on. It returns the figures of each
// experiment by strategy; nil where ctx ended early. Progress, if not nil, is called after each experiment.
func (s *System) Run(ctx context.Context, strategies []Strategy, tasks int, seed uint64, experiments int,
	progress func(done, of int)) ([][]Figures, error) {
	if tasks < 2 || tasks > MaxTasks {
		return nil, fmt.Errorf("tasks %d: want from 2 to %d", tasks, MaxTasks)
	}
	out := make([][]Figures, experiments)
	err := replicate.Each(ctx, experiments, 0, progress, func(k int, stop *atomic.Bool) (whole bool, err error) {
		var of []Figures
		for _, st := range strategies {
			e := newEngine(s, st, tasks, seed+uint64(k))
			if !e.run(stop.Load) {
				return false, nil
			}
			of = append(of, e.figures())
		}
		out[k] = of
		return true, nil
	})
	if err != nil || ctx.Err() != nil {
		return nil, err
	}
	return out, nil
}

func (e *engine) figures() Figures {
	n := float64(len(e.tasks))
	var value, density, delay []float64
	for k := range e.tasks {
		t := &e.tasks[k]
		value, density = append(value, t.value), append(density, t.value/t.length)
		delay = append(delay, t.started)
	}
	share := func(x int) float64 { return float64(x) / n }
	return Figures{Faults: share(e.met), Failures: share(e.failed), None: share(e.chosen[utility.None]),
		Retry: share(e.chosen[utility.Retry]), Replication: share(e.chosen[utility.Replicate]), End: e.end,
		Profit: e.paid / e.possible, ValueDelay: correlation(value, delay), DensityDelay: correlation(density, delay)}
}

// correlation is Pearson's, 0 where one of both does not vary.
func correlation(x, y []float64) float64 {
	if stat.Variance(x, nil) == 0 || stat.Variance(y, nil) == 0 {
		return 0
	}
	return stat.Correlation(x, y, nil)
}
