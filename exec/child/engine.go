package child

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"skep/exec/external"
	"skep/node/api/client"
)

// Options say which grid tasks run in. All must be set but where they say otherwise.
type Options struct {
	API    *client.Client    // of a node of the child
	Dir    string            // absolute: folder of the attempts
	Parent string            // name of this node's own network
	Labels map[string]string // os and arch of this node

	// Poll is the time between two looks while something changes; while nothing does it grows to maxPoll. Default 1 s.
	// Lower finds ends sooner and burdens the node that is reached.
	Poll time.Duration

	// Patience is for how long a result is tried to be fetched of a child that answers; then its task is lost. Default 15
	// min. Less loses results that come again, as after a restart of the node that has them.
	Patience time.Duration

	// Survey is the time between two looks at the nodes of the child; while it does not answer, a fifth of that. Default
	// 10 s. Lower follows what the child has more closely, and burdens the node that is reached.
	Survey time.Duration

	// Report is called after each look at the nodes of the child with the share of its cores at the start that tasks of
	// this node may have: what is free, and what they have. 0: it cannot be reached, or takes no jobs.
	Report func(share float64)

	// Away is called when the child takes no tasks any more, since it cannot be reached or the node that is reached takes
	// none, and when it takes some again. Nil = nobody is told.
	Away func(away bool)

	// Log takes messages for the operator. Default: discarded.
	Log *slog.Logger
}

const (
	maxPoll  = 5 * time.Second
	maxRetry = 10 * time.Second // between two looks while the child does not answer
	askTime  = 30 * time.Second // for one request that moves no files
)

// Engine runs tasks as jobs of a child grid. All its methods may be called at the same time.
type Engine struct {
	external.Table[*Task]
	watcher external.Watcher
	o       Options
	ctx     context.Context
	stop    context.CancelFunc
	over    sync.WaitGroup
	grid    atomic.Pointer[Grid] // as it was seen last
	away    atomic.Bool          // it did not answer the last time
	cores   float64              // that it had at the start

	sending, fetching chan struct{} // bound submissions, and collections of results
}

// Open gets ready to run tasks in the grid that Look has found. Former must be called before Start, and Close at the
// end.
func Open(o Options, g *Grid) (*Engine, error) {
	if o.Poll == 0 {
		o.Poll = time.Second
	}
	if o.Survey == 0 {
		o.Survey = 10 * time.Second
	}
	if o.Patience == 0 {
		o.Patience = 15 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := g.checkLoop(o.Parent); err != nil {
		return nil, fmt.Errorf("child grid: %w", err)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("child grid: %w", err)
	}
	e := &Engine{o: o, cores: g.Cores, sending: make(chan struct{}, 8), fetching: make(chan struct{}, 4)}
	e.grid.Store(g)
	e.watcher = external.Watcher{Poll: o.Poll, MaxPoll: maxPoll, MaxRetry: maxRetry, Look: e.look, Silent: e.silent}
	e.watcher.Init()
	e.Init(e.watcher.Soon, o.Log)
	e.ctx, e.stop = context.WithCancel(context.Background())
	return e, nil
}

// Grid is the child as it was seen last.
func (e *Engine) Grid() *Grid { return e.grid.Load() }

// Folder is where the folders of attempts are.
func (e *Engine) Folder() string { return e.o.Dir }

// Prepare makes the folder of an attempt.
func (e *Engine) Prepare(dir string) error {
	if err := external.MakeFolders(e.o.Dir, dir); err != nil {
		return fmt.Errorf("child grid: %w", err)
	}
	return nil
}

// Former finds the orders of an earlier run and begins to look after jobs. wanted says whether the attempt with a key
// is still to go on: the jobs of others are cancelled, and their folders removed.
func (e *Engine) Former(wanted func(key string) bool) error {
	orders, empty, err := external.ReadOrders(e.o.Dir, orderFile, (*Order).check, func(dir string, err error) {
		e.Unread()
		e.o.Log.Warn("an order of an earlier run cannot be read: its job in the child grid goes on by itself",
			"folder", dir, "error", err)
	})
	if err != nil {
		return fmt.Errorf("child grid: the folder of jobs cannot be read: %w", err)
	}
	external.RemoveDrafts(e.o.Dir)
	for _, dir := range empty {
		e.Remove(dir)
	}
	for _, o := range orders {
		t := e.newTask(o)
		t.Handed()
		e.Restore(t, wanted(o.Key))
	}
	e.over.Go(func() { e.watcher.Run(e.ctx) })
	e.over.Go(e.survey)
	return nil
}

// Close leaves all jobs to themselves: the next run finds them. What waits for their ends is told that they are not
// known.
func (e *Engine) Close() {
	e.stop()
	e.over.Wait()
	e.Table.Close()
	e.o.API.Close()
}

// survey looks at the nodes of the child until Close.
func (e *Engine) survey() {
	for {
		ctx, cancel := context.WithTimeout(e.ctx, askTime)
		g, err := Look(ctx, e.o.API, e.o.Labels)
		cancel()
		if e.ctx.Err() != nil {
			return
		}
		if err == nil {
			err = g.checkLoop(e.o.Parent)
		}
		if err == nil {
			e.grid.Store(g)
		}
		if away := err != nil; e.away.Swap(away) != away {
			if away {
				e.o.Log.Warn("the child grid takes no tasks now: what runs there goes on, and is waited for", "error", err)
			} else {
				e.o.Log.Info("the child grid takes tasks again")
			}
			if e.o.Away != nil {
				e.o.Away(away)
			}
		}
		e.o.Report(e.share(g, err))
		pause := e.o.Survey
		if err != nil {
			pause /= 5
		}
		select {
		case <-time.After(pause):
		case <-e.ctx.Done():
			return
		}
	}
}

// share is what is left to tasks of this node, of which each counts as if it ran.
func (e *Engine) share(g *Grid, err error) float64 {
	if err != nil || e.cores <= 0 {
		return 0
	}
	have := g.Free
	for _, t := range e.Tasks() {
		have += t.order.Spec.Needs.Cores
	}
	return min(have/e.cores, 1)
}
