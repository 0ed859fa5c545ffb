package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/p2p"
)

// stopPoll is the interval between polls of a stopping node; savedTime is how much longer than its tasks it runs for
// their results to be saved.
const (
	stopPoll  = 20 * time.Millisecond
	savedTime = time.Second
)

// onStop returns a context that ends with the first SIGINT or SIGTERM, and one that ends with the second.
func onStop(parent context.Context) (first, second context.Context, stop func()) {
	first, end := context.WithCancel(parent)
	second, hurry := context.WithCancel(context.WithoutCancel(parent))
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for _, f := range []func(){end, hurry} {
			select {
			case <-signals:
				f()
			case <-done:
				return
			}
		}
	}()
	return first, second, func() { signal.Stop(signals); close(done); end(); hurry() }
}

// finish drains a node that is about to stop: running tasks may continue for that time, as long as hurry lasts.
func finish(hurry context.Context, d *p2p.Driver, within time.Duration, log *slog.Logger) {
	if within == 0 {
		return
	}
	ctx, stop := context.WithTimeout(hurry, within+savedTime)
	defer stop()
	if d.Drain(ctx, within) != nil {
		return
	}
	said := false
	for {
		var v node.DrainView
		err := d.Read(ctx, func(n *node.Node, now grid.Time) { v = n.Drain(now) })
		if err != nil || v.Running+v.Unsaved == 0 {
			return
		}
		if !said {
			said = true
			log.Info(fmt.Sprintf("stopping when what runs has ended, or after %v; interrupt again to stop at once", within),
				"running", v.Running)
		}
		select {
		case <-time.After(stopPoll):
		case <-ctx.Done():
			return
		}
	}
}
