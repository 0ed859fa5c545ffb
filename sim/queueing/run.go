package queueing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"skep/balance"
	"skep/grid"
	"skep/sim/replicate"
)

// Options says how a system is run.
type Options struct {
	Policies     []string       // of balance.Names and balance.PullNames, as in kpb:3
	Time         float64        // length of a run, from 1e-9 to 9e9 units
	Warmup       float64        // part of it that is not counted, less than Time
	Replications int            // from 1 to 10,000
	Seed         uint64         // of all chance
	Balance      balance.Config // the zero value is the reading of [1]
	Workers      int            // runs at the same time; 0 = GOMAXPROCS. Changes no result.

	// Progress, if not nil, is called after each run, one call at a time.
	Progress func(done, of int)
}

// Bounds of Options.
const (
	MaxTime         = 9e9 // in nanoseconds it still is a grid.Time
	MaxReplications = 10_000
)

// Policies lists all policies that a system can be run under.
func Policies() []string {
	all := append(slices.DeleteFunc(balance.Names(), keepsForIdle),
		balance.PullNames()...)
	slices.Sort(all)
	return all
}

// keepsForIdle reports whether a policy places tasks on idle machines alone.
func keepsForIdle(base string) bool {
	return base == "workqueue" || base == "rr_replicated" || balance.Trades(base)
}

// IsPull reports whether a policy is one by which idle machines take tasks.
func IsPull(policy string) bool {
	base, _, _ := strings.Cut(policy, ":")
	return slices.Contains(balance.PullNames(), base)
}

// scattered reports whether machines decide.
func (s *System) scattered(policy string) bool {
	base, _, _ := strings.Cut(policy, ":")
	switch {
	case IsPull(policy):
		return false
	case s.Decide != ByDefault:
		return s.Decide == ByMachines
	}
	return s.AlphaAt != nil || strings.HasPrefix(base, "lpas_dec")
}

// Check reports everything that is wrong with the options for a system.
func (o *Options) Check(s *System) error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !(o.Time >= 1e-9 && o.Time <= MaxTime) {
		add("time %g: want from 1e-9 to %g units", o.Time, float64(MaxTime))
	} else if !(o.Warmup >= 0 && o.Warmup < o.Time) {
		add("warmup %g: want from 0 to less than the time, %g", o.Warmup, o.Time)
	}
	if o.Replications < 1 || o.Replications > MaxReplications {
		add("replications %d: want from 1 to %d", o.Replications, MaxReplications)
	}
	if o.Workers < 0 {
		add("workers %d: want 0 or more", o.Workers)
	}
	if len(o.Policies) == 0 {
		add("no policy: want one or more of %s", strings.Join(Policies(), ", "))
	}
	for _, name := range o.Policies {
		if err := s.accepts(name, o); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// accepts reports whether a policy can be used with a system.
func (s *System) accepts(name string, o *Options) error {
	base, _, _ := strings.Cut(name, ":")
	if IsPull(name) {
		_, err := balance.MakePull(name, o.Balance, grid.NewRand(0, 0))
		return err
	}
	if !slices.Contains(balance.Names(), base) {
		return fmt.Errorf("policy %q: is not known: want one of %s", name, strings.Join(Policies(), ", "))
	}
	if keepsForIdle(base) {
		return fmt.Errorf("policy %s: keeps tasks until somebody is idle, and here nobody is asked again: fcfs is "+
			"the same, where idle machines take", base)
	}
	if base == "local" && !s.scattered(name) {
		return fmt.Errorf("policy local: runs tasks where they arrive, and here they arrive at a mapper: want alpha by " +
			"machine, or decide: machines")
	}
	if most := s.mostDeciders(); s.scattered(name) && s.Size() > most {
		return fmt.Errorf("policy %s: %d machines decide, and each keeps what it knows of each: want at most %d, or "+
			"decide: mapper", name, s.Size(), most)
	}
	policy, err := balance.Make(name, &o.Balance, grid.NewRand(0, 0))
	if err == nil && batches(policy) {
		return s.acceptsBatch(name)
	}
	return err
}

// mostDeciders bounds the machines that place tasks: what each knows of each takes about 16 bytes and as much for each
// class, five times over, and more than 3 GB in all are too many for a run.
func (s *System) mostDeciders() int { return int(math.Sqrt(1e8 / float64(len(s.Classes)+5))) }

// Run runs a system under each of the policies. It refuses what Check does, but not a load that is too
// high. When ctx ends early it returns ctx's error and a report of the runs that were done.
func Run(ctx context.Context, s *System, o Options) (*Report, error) {
	if p := s.Check(); len(p) > 0 {
		return nil, p
	}
	if err := o.Check(s); err != nil {
		return nil, err
	}
	runs := make([]*outcome, len(o.Policies)*o.Replications)
	if err := runAll(ctx, s, &o, runs); err != nil {
		return nil, err
	}
	r := &Report{System: s.Name, Lambda: Number(s.Lambda())}
	for k, policy := range o.Policies {
		part := slices.DeleteFunc(runs[k*o.Replications:][:o.Replications:o.Replications],
			func(x *outcome) bool { return x == nil })
		if len(part) > 0 {
			r.Results = append(r.Results, s.result(policy, &o, part))
		}
	}
	return r, ctx.Err()
}

// outcome is one run.
type outcome struct {
	books
	took time.Duration
}

// runAll does the runs on several workers; each has its place in the list, whoever does it.
func runAll(ctx context.Context, s *System, o *Options, runs []*outcome) error {
	return replicate.Each(ctx, len(runs), o.Workers, o.Progress, func(k int, stop *atomic.Bool) (bool, error) {
		start := time.Now()
		e, err := newEngine(s, o.Policies[k/o.Replications], o, k%o.Replications, stop)
		if err != nil {
			return false, err
		}
		if err := e.runChecked(o.Policies[k/o.Replications]); err != nil || stop.Load() {
			return false, err
		}
		runs[k] = &outcome{e.books, time.Since(start)}
		return true, nil
	})
}
