package brokers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"skep/balance"
	"skep/grid"
	"skep/sim/replicate"
)

// Options says how a system is run.
type Options struct {
	Policies     []string       // of balance.Names
	Rate         float64        // of arrivals over all clusters, jobs per second
	Warmup       int            // jobs that come first and are not measured
	Jobs         int            // that are measured
	Replications int            // from 1 to 10,000
	Seed         uint64         // of all chance
	Balance      balance.Config // equal ones are always taken in order
	Workers      int            // runs at the same time; 0 = GOMAXPROCS. Changes no result.

	// Progress, if not nil, is called after each run, one call at a time.
	Progress func(done, of int)
}

// Result is what came of a system under one policy.
type Result struct {
	Policy string
	Runs   []Run
}

// Run is one replication.
type Run struct {
	W        float64   // mean time from a job's arrival at its broker to its return there, measured jobs, seconds
	ByClass  []float64 // of W; NaN without jobs of the class
	Q        float64   // mean number of jobs in the grid, over all the time
	All      float64   // as W, of all jobs that returned, and not only those measured
	Arrived  float64   // jobs that came for each second
	Messages float64   // for each job
	Probed   float64   // clusters asked for each job
	Load     []float64 // by resource: seconds of work that it was given for each second
	Rejected int
	Demoted  int
}

// MaxReplications bounds Options.
const MaxReplications = 10_000

// Check reports everything that is wrong with the options.
func (o *Options) Check() error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !(o.Rate > 0 && o.Rate <= 1e6) {
		add("rate %g: want above 0 and at most 1e6 jobs per second", o.Rate)
	}
	if o.Warmup < 0 || o.Warmup > 1e9 {
		add("warmup %d: want from 0 to 1e9 jobs", o.Warmup)
	}
	if o.Jobs < 1 || o.Jobs > 1e9 {
		add("jobs %d: want from 1 to 1e9", o.Jobs)
	}
	if o.Replications < 1 || o.Replications > MaxReplications {
		add("replications %d: want from 1 to %d", o.Replications, MaxReplications)
	}
	if o.Workers < 0 {
		add("workers %d: want 0 or more", o.Workers)
	}
	for _, name := range o.Policies {
		if _, err := balance.Make(name, &o.Balance, grid.NewRand(0, 0)); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Simulate runs a system under each of the policies. When ctx ends early it returns ctx's error and no results.
func Simulate(ctx context.Context, s *System, o Options) ([]Result, error) {
	if err := errors.Join(s.Check(), o.Check()); err != nil {
		return nil, err
	}
	runs := make([]Run, len(o.Policies)*o.Replications)
	if err := simulate(ctx, s, &o, runs); err != nil {
		return nil, err
	}
	var out []Result
	for k, policy := range o.Policies {
		out = append(out, Result{policy, runs[k*o.Replications:][:o.Replications]})
	}
	return out, nil
}

// simulate does the runs on several workers; each has its place in the list, whoever does it.
func simulate(ctx context.Context, s *System, o *Options, runs []Run) error {
	err := replicate.Each(ctx, len(runs), o.Workers, o.Progress, func(k int, stop *atomic.Bool) (bool, error) {
		e, err := newEngine(s, o.Policies[k/o.Replications], o, k%o.Replications, stop)
		if err != nil || !e.run() {
			return false, err
		}
		runs[k] = e.result()
		return true, nil
	})
	if err != nil {
		return err
	}
	return ctx.Err()
}

func (e *engine) result() Run {
	n := 0
	for _, x := range e.nByClass {
		n += x
	}
	r := Run{W: e.total / float64(n), All: e.all / float64(e.returned), Q: e.area / e.now,
		Arrived: float64(e.jobs) / e.now, Messages: float64(e.messages) / float64(e.jobs),
		Probed: float64(e.probed) / float64(e.jobs), Rejected: e.rejected, Demoted: e.demoted}
	for k, x := range e.nByClass {
		if x == 0 {
			r.ByClass = append(r.ByClass, math.NaN())
			continue
		}
		r.ByClass = append(r.ByClass, e.byClass[k]/float64(x))
	}
	for j := range e.resources {
		r.Load = append(r.Load, e.resources[j].demand/e.now)
	}
	return r
}
