package replicate

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Each calls run with each number below n, on so many workers; 0 = GOMAXPROCS. A run reports whether it came to its
// end: it looks at stop now and then, which is set when ctx ends or a run has an error, and which a context is too slow
// for. Progress, if not nil, is called after each run that did, one call at a time. Each returns the first error of a
// run; where ctx ended early, and nothing else was wrong, it returns nil.
func Each(ctx context.Context, n, workers int, progress func(done, of int),
	run func(k int, stop *atomic.Bool) (whole bool, err error)) error {
	group, ctx := errgroup.WithContext(ctx)
	var stop atomic.Bool
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()
	group.SetLimit(cmp.Or(workers, runtime.GOMAXPROCS(0)))
	var mu sync.Mutex
	done := 0
	for k := range n {
		group.Go(func() error {
			if stop.Load() {
				return nil
			}
			whole, err := run(k, &stop)
			if err != nil || !whole {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if done++; progress != nil {
				progress(done, n)
			}
			return nil
		})
	}
	return group.Wait()
}
