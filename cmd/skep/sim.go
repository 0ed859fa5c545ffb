package main

import "github.com/spf13/cobra"

func (a *app) simCmd() *cobra.Command {
	return parent("sim", "Simulate grids in virtual time", a.simNetCmd(), a.simSwarmCmd(), a.simReplayCmd())
}
