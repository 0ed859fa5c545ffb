package net

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skep/grid"
	"skep/node"
	"skep/sim"
	"skep/sim/pages"
)

// samplesPerRun is how often a run is sampled while tasks arrive: to measure view errors, report progress, and check
// for cancellation.
const samplesPerRun = 32

// stepsPerSample is the number of steps from one sample to the next, at which a run checks for cancellation.
const stepsPerSample = 32

// maxNodesAtOnce bounds the nodes in memory: replications beyond it run one after the other.
const maxNodesAtOnce = 50_000

// Progress is the progress of a run: Done, 0 to 1, of all replications; Virtual is the world's time in the replication
// that reports.
type Progress struct {
	Replication int
	Virtual     time.Duration
	Done        float64
}

// Run runs all replications, as many at once as there are processors, and returns the measurements. When ctx ends, it
// returns those so far, with Complete false. onProgress, if not nil, is called now and then, one call at a time. An
// error is a failed check of the simulated grid, and says how to repeat it.
func Run(ctx context.Context, s *Scenario, onProgress func(Progress)) (*Report, error) {
	r, err := replicateAll(ctx, s, onProgress)
	if err != nil {
		return nil, err
	}
	return s.report(r.samples), nil
}

// replicateAll is Run without the report.
func replicateAll(ctx context.Context, s *Scenario, onProgress func(Progress)) (*runner, error) {
	if problems, _ := s.Check(); len(problems) > 0 {
		return nil, fmt.Errorf("%s: %s", problems[0].Where, problems[0].What)
	}
	r := &runner{s: s, onProgress: onProgress, done: make([]float64, s.Replications),
		samples: make([]*sample, s.Replications)}
	group, ctx := errgroup.WithContext(ctx)
	together := min(runtime.GOMAXPROCS(0), max(1, maxNodesAtOnce/s.nodes()))
	group.SetLimit(together)
	pages.Reserve(sim.Footprint * s.nodes() * min(together, s.Replications))
	for k := range s.Replications {
		group.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			return r.replicate(ctx, k)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return r, nil
}

// runner is the state that replications share.
type runner struct {
	s          *Scenario
	onProgress func(Progress)
	mu         sync.Mutex
	done       []float64
	samples    []*sample
}

func (r *runner) progress(k int, virtual time.Duration, part float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[k] = part
	if r.onProgress == nil {
		return
	}
	sum := 0.0
	for _, p := range r.done {
		sum += p
	}
	r.onProgress(Progress{Replication: k, Virtual: virtual, Done: sum / float64(len(r.done))})
}

// replicate runs one world to its end, or until ctx ends.
func (r *runner) replicate(ctx context.Context, k int) error {
	s := r.s
	seed := s.Seed + uint64(k)
	began := time.Now()
	cfg := s.world(seed)
	var w *sim.World
	shape, told := cfg.Node, func(id grid.NodeID) *grid.Ad { return truth(w, id) }
	cfg.Node = func(i int, c *node.Config) {
		shape(i, c)
		c.GangFacts = s.facts(told)
		if s.Perfect {
			c.Truth = told
		}
	}
	w, err := sim.New(cfg)
	if err != nil {
		return err
	}
	m := &sample{work: cfg.Work, away: away(cfg.Faults, cfg.Nodes), views: make(map[uint8]*viewErrors)}
	r.samples[k] = m
	chance := grid.NewRand(seed, streamSamples)
	for n := time.Duration(1); ctx.Err() == nil; n++ {
		at := s.Time/samplesPerRun*n + s.Time%samplesPerRun*n/samplesPerRun
		if !m.opened && s.Warmup <= at {
			if _, err := advance(ctx, w, s.Warmup); err != nil {
				return err
			}
			if ctx.Err() != nil {
				break
			}
			m.openWindow(w, s)
		}
		done, err := advance(ctx, w, at)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			break
		}
		if m.opened && at <= s.Time {
			m.compareViews(w, s, chance)
		}
		if m.opened && at >= s.Time {
			m.closeWindow(w, s)
		}
		r.progress(k, w.Now(), min(0.99, at.Seconds()/s.Time.Seconds()*0.95))
		if done {
			break
		}
	}
	if ctx.Err() == nil {
		if _, err = w.Run(); err != nil {
			return err
		}
		m.complete = true
	}
	if !m.opened { // it ended, or was cancelled, before the window
		m.openWindow(w, s)
	}
	m.closeWindow(w, s)
	m.countTasks(w, s, time.Since(began))
	r.progress(k, w.Now(), 1)
	return nil
}

// advance runs the world until a time, or until ctx ends.
func advance(ctx context.Context, w *sim.World, until time.Duration) (done bool, err error) {
	from := w.Now()
	for k := time.Duration(1); k <= stepsPerSample && ctx.Err() == nil && !done && err == nil; k++ {
		done, err = w.Advance(from + (until-from)/stepsPerSample*k + (until-from)%stepsPerSample*k/stepsPerSample)
	}
	return done, err
}
