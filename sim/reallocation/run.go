package reallocation

import (
	"context"
	"fmt"
	"sync/atomic"

	"gonum.org/v1/gonum/stat"

	"skep/sim/replicate"
)

// Figures are what came of an experiment under a strategy.
type Figures struct {
	Completion float64 // of the last task, in the system's unit
	Demand     float64 // of all tasks, in 10^8 seconds of a processor
	Efficiency float64 // the demand over what the grid could have done until the last completion
	Ticks      int
	Speedup    float64 // correlation of the value of a task with its response time under fcfs over its own here
	Delay      float64 // correlation of the value with the time until the first start
	MeanDelay  float64 // in the system's unit
	Transfer   float64 // time of all transfers of inputs, in the system's unit

	// Completion and Transfer over those of fcfs in the same experiment.
	RelativeCompletion, RelativeTransfer float64

	Execution float64 // mean time from the first start to the end, in the system's unit
}

// Run runs experiments under strategies, with seeds from one on, at a pace: the mean time between arrivals in hours of
// the random workload, what times between arrivals are multiplied by of the trace, and the factor on the
// sizes of inputs where tasks have them. It returns the figures of each
// experiment by strategy; nil where ctx ended early. Progress, if not nil, is called after each experiment.
func (s *System) Run(ctx context.Context, strategies []Strategy, pace float64, seed uint64, experiments int,
	progress func(done, of int)) ([][]Figures, error) {
	if !(pace >= 0 && pace <= 1e6) {
		return nil, fmt.Errorf("pace %v: want from 0 to 1e6", pace)
	}
	out := make([][]Figures, experiments)
	err := replicate.Each(ctx, experiments, 0, progress, func(k int, stop *atomic.Bool) (whole bool, err error) {
		out[k], err = s.experiment(strategies, pace, seed+uint64(k), stop.Load)
		return out[k] != nil, err
	})
	if err != nil || ctx.Err() != nil {
		return nil, err
	}
	return out, nil
}

// experiment runs one under strategies. It returns nil where stop said so.
func (s *System) experiment(strategies []Strategy, pace float64, seed uint64, stop func() bool) ([]Figures, error) {
	base, err := s.one(Strategy{Name: "fcfs"}, pace, seed, stop)
	if err != nil || base == nil {
		return nil, err
	}
	var out []Figures
	for _, st := range strategies {
		e := base
		if st.Name != "fcfs" {
			if e, err = s.one(st, pace, seed, stop); err != nil || e == nil {
				return nil, err
			}
		}
		out = append(out, e.figures(base))
	}
	return out, nil
}

func (s *System) one(st Strategy, pace float64, seed uint64, stop func() bool) (*engine, error) {
	e, err := newEngine(s, st, pace, seed)
	if err != nil || !e.run(stop) {
		return nil, err
	}
	return e, nil
}

// figures are those of the tasks, compared with the same under fcfs.
func (e *engine) figures(fcfs *engine) Figures {
	n := len(e.tasks)
	value, speedup, delay := make([]float64, n), make([]float64, n), make([]float64, n)
	f, processors := Figures{Ticks: e.ticks, Completion: e.completion()}, 0.0
	for k := range e.tasks {
		t, base := &e.tasks[k], &fcfs.tasks[k]
		value[k], delay[k] = t.value, t.started-t.submit
		speedup[k] = (base.ended - base.submit) / (t.ended - t.submit)
		f.Demand += t.length
		f.Execution += (t.ended - t.started) / float64(n) / e.system.Unit
	}
	for _, c := range e.system.Clusters {
		processors += float64(c)
	}
	f.Efficiency = f.Demand / (f.Completion * processors)
	f.RelativeCompletion = f.Completion / fcfs.completion()
	if f.RelativeTransfer = 1; fcfs.storage.spent > 0 {
		f.RelativeTransfer = e.storage.spent / fcfs.storage.spent
	}
	f.Completion /= e.system.Unit
	f.Transfer = e.storage.spent / e.system.Unit
	f.Demand /= 1e8
	f.MeanDelay = stat.Mean(delay, nil) / e.system.Unit
	f.Speedup, f.Delay = correlation(value, speedup), correlation(value, delay)
	return f
}

// completion is when the last task ended.
func (e *engine) completion() (last float64) {
	for k := range e.tasks {
		last = max(last, e.tasks[k].ended)
	}
	return last
}

// correlation is Pearson's, 0 where one of both does not vary.
func correlation(x, y []float64) float64 {
	if stat.Variance(x, nil) == 0 || stat.Variance(y, nil) == 0 {
		return 0
	}
	return stat.Correlation(x, y, nil)
}
