package marketplace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"skep/balance/market"
	"skep/sim/replicate"
)

// Options says how a system is run. Times are in units.
type Options struct {
	Protocols    []string // of market.Names, as in hbp_t:5
	Warmup       float64  // at the beginning, of which tasks are not measured
	Measured     float64  // in which tasks that arrive are
	Tail         float64  // in which they may still end
	Replications int      // from 1 to 10,000
	Seed         uint64   // of all chance
	Workers      int      // runs at the same time; 0 = GOMAXPROCS. Changes no result.

	// Progress, if not nil, is called after each run, one call at a time.
	Progress func(done, of int)
}

// DefaultOptions are those of [1, section 7.2], with 10 replications instead of 40.
func DefaultOptions() Options {
	return Options{Protocols: []string{"cda"}, Warmup: 100, Measured: 1000, Tail: 200, Replications: 10, Seed: 1}
}

// MaxReplications bounds the replications.
const MaxReplications = 10_000

// maxTasks bounds the tasks of a run, each of which may take 200 bytes.
const maxTasks = 1e7

// maxNews bounds the news of a run: each owner hears of each task where it is and when it ends, which takes some half a
// microsecond.
const maxNews = 1e9

// Check reports everything that is wrong with the options.
func (o *Options) Check() error {
	var errs []error
	span := func(key string, x, lo float64) {
		if !(x >= lo && x <= 1e6) {
			errs = append(errs, fmt.Errorf("%s %g: want from %g to 1e+06 units", key, x, lo))
		}
	}
	span("warmup", o.Warmup, 0)
	span("time", o.Measured, 1)
	span("tail", o.Tail, 0)
	if o.Replications < 1 || o.Replications > MaxReplications {
		errs = append(errs, fmt.Errorf("replications %d: want from 1 to %d", o.Replications, MaxReplications))
	}
	if o.Workers < 0 {
		errs = append(errs, fmt.Errorf("workers %d: want 0 or more", o.Workers))
	}
	if len(o.Protocols) == 0 {
		errs = append(errs, errors.New("no protocol: want one or more, as in cda,hbp_t:5"))
	}
	for _, name := range o.Protocols {
		if _, err := market.Parse(name); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// checkOwners reports the protocols that need a matcher where there is none: one that moves tasks has to know them all.
func (o *Options) checkOwners(s *System) error {
	for _, name := range o.Protocols {
		if p, _ := market.Parse(name); s.Owners > 0 && p.Migrates {
			return fmt.Errorf("protocol %q: moves the tasks of all, which takes a matcher: want owners 0 in the file, or "+
				"another protocol", name)
		}
	}
	return nil
}

// Run runs a system under each of the protocols. When ctx ends early it returns ctx's error and a report of the runs
// that were done.
func Run(ctx context.Context, s *System, o Options) (*Report, error) {
	if err := errors.Join(s.Check(), o.Check()); err != nil {
		return nil, err
	}
	if err := o.checkOwners(s); err != nil {
		return nil, err
	}
	tasks := s.Rate() * (o.Warmup + o.Measured + o.Tail)
	if tasks > maxTasks {
		return nil, fmt.Errorf("time: %.3g tasks in a run: want at most %g: a shorter time, or fewer servers", tasks,
			float64(maxTasks))
	}
	if n := tasks * float64(s.Owners); n > maxNews {
		return nil, fmt.Errorf("owners %d: each hears of all %.3g tasks of a run, %.3g times together: want at most %g: "+
			"a shorter time, or fewer owners", s.Owners, tasks, n, float64(maxNews))
	}
	runs := make([]*Sample, len(o.Protocols)*o.Replications)
	if err := runAll(ctx, s, &o, runs); err != nil {
		return nil, err
	}
	return newReport(s, &o, runs), ctx.Err()
}

// newReport is that of the runs that were done; nil = not.
func newReport(s *System, o *Options, runs []*Sample) *Report {
	r := &Report{System: s.Name, Rate: s.Rate()}
	for k, name := range o.Protocols {
		part := slices.DeleteFunc(slices.Clone(runs[k*o.Replications:][:o.Replications]),
			func(x *Sample) bool { return x == nil })
		if len(part) > 0 {
			r.Results = append(r.Results, summarise(name, part))
		}
	}
	r.compare(runs, o.Replications)
	return r
}

// runAll does the runs on several workers; each has its place in the list, whoever does it.
func runAll(ctx context.Context, s *System, o *Options, runs []*Sample) error {
	return replicate.Each(ctx, len(runs), o.Workers, o.Progress, func(k int, stop *atomic.Bool) (bool, error) {
		p, err := market.Parse(o.Protocols[k/o.Replications])
		if err != nil {
			return false, err
		}
		e := newEngine(s, p, o, k%o.Replications, stop)
		if !e.run() {
			return false, nil
		}
		runs[k] = e.sample()
		return true, nil
	})
}
