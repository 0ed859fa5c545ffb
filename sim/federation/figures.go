package federation

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"gonum.org/v1/gonum/stat"

	"skep/sim/replicate"
)

// Figures are what came of an experiment under a strategy, of the tasks of the grid that came after the first fifth of
// the time. Times are in seconds.
type Figures struct {
	Wait        float64 // mean time until the start
	Utilisation float64 // part of the processors that work
	Idle        float64 // part of them that is free while a task of the grid waits
	Uneven      float64 // mean deviation of the free parts of the sites
	Queued      float64 // most tasks of the grid that waited at the first site at once
	Flood       float64 // most that a site was given between two adverts and that had to wait

	EstimateError float64 // mean of the absolute error of the estimated waiting time, at the hand-over
	AdvertError   float64 // the same of what the last advert said

	Errors      float64 // part of those that ended which failed
	StoreErrors float64 // part of these that failed for a store
	Held        float64 // part that had not ended at the end
}

// warmup is the part of the time before anything is measured.
const warmup = 0.2

// books are what came of the experiment so far.
type books struct {
	from, until         float64
	queued              [maxSites]int
	flood               int
	busy, unused, apart float64 // integrals over time
}

// pass counts the time until the next event.
func (e *engine) pass(at float64) {
	low, high := max(e.now, e.from), min(at, e.until)
	if high <= low {
		return
	}
	total, free, waits := 0, 0, len(e.broker.waiting) > 0
	var parts [maxSites]float64
	for k := range e.sites {
		s := &e.sites[k]
		total, free = total+s.total, free+s.free
		waits = waits || s.grid > 0
		parts[k] = float64(s.free) / float64(s.total)
	}
	n := float64(total)
	e.busy += (high - low) * float64(total-free) / n
	if waits {
		e.unused += (high - low) * float64(free) / n
	}
	e.apart += (high - low) * stat.PopStdDev(parts[:len(e.sites)], nil)
}

func (e *engine) figures() Figures {
	f := Figures{Queued: float64(e.queued[0]), Flood: float64(e.flood)}
	started, ended, failed, missed := 0.0, 0.0, 0.0, 0.0
	for _, t := range e.tasks {
		if t.started < 0 {
			continue
		}
		started++
		f.Wait += t.started - t.arrived
		f.EstimateError += math.Abs(t.started - t.given - t.estimate)
		f.AdvertError += math.Abs(t.started - t.given - t.advert)
		if t.ends > e.now {
			continue
		}
		ended++
		if t.failed {
			failed++
		}
		if t.missed {
			missed++
		}
	}
	span := e.until - e.from
	f.Wait, f.EstimateError, f.AdvertError = f.Wait/started, f.EstimateError/started, f.AdvertError/started
	f.Utilisation, f.Idle, f.Uneven = e.busy/span, e.unused/span, e.apart/span
	f.Errors, f.StoreErrors = failed/ended, missed/failed
	f.Held = 1 - ended/float64(len(e.tasks))
	return f
}

// Run runs experiments under strategies, with seeds from one on: at a load, which is the part of all processors that
// the tasks of the grid and the sites' own would keep busy, for so many seconds. It returns the figures of each
// experiment by strategy; nil where ctx ended early. Progress, if not nil, is called after each experiment.
func (s *System) Run(ctx context.Context, strategies []Strategy, load, time float64, seed uint64, experiments int,
	progress func(done, of int)) ([][]Figures, error) {
	if !(load > s.Local && load <= 10) {
		return nil, fmt.Errorf("load %v: want more than the sites' own of %v, and 10 at most", load, s.Local)
	}
	if !(time >= s.Mean && time <= 1e9) {
		return nil, fmt.Errorf("time %v: want seconds, from the mean duration of a task to 1e9", time)
	}
	for _, st := range strategies {
		if st.byData() && s.Data == nil {
			return nil, fmt.Errorf("strategy %s: needs a system with data", st.name)
		}
	}
	out := make([][]Figures, experiments)
	err := replicate.Each(ctx, experiments, 0, progress, func(k int, stop *atomic.Bool) (whole bool, err error) {
		for _, st := range strategies {
			e := newEngine(s, st, load, time, seed+uint64(k))
			if !e.run(stop.Load) {
				return false, nil
			}
			out[k] = append(out[k], e.figures())
		}
		return true, nil
	})
	if err != nil || ctx.Err() != nil {
		return nil, err
	}
	return out, nil
}
