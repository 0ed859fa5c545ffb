package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
)

func (a *app) simCmd() *cobra.Command {
	return parent("sim", "Simulate systems and grids",
		a.simQueueCmd(), a.simNetCmd(), a.simPaperCmd(), a.simSwarmCmd(), a.simReplayCmd())
}

// interruptible ends ctx at an interrupt, so that partial results can be printed. A second one ends the program.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
