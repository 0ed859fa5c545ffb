package main

import "github.com/spf13/cobra"

func (a *app) simCmd() *cobra.Command {
	return parent("sim", "Simulate systems and grids",
		a.simQueueCmd(), a.simNetCmd(), a.simPaperCmd(), a.simSwarmCmd(), a.simReplayCmd())
}
