package main

import (
	"github.com/spf13/cobra"

	"skep/testnet"
)

func (a *app) testnetStopCmd() *cobra.Command {
	return a.ofNodes("stop", "Ask nodes to leave and wait until they have", "", "has left",
		func(cmd *cobra.Command, t *testnet.Net, n *testnet.Node) error {
			return t.Stop(cmd.Context(), n)
		})
}

func (a *app) testnetStartCmd() *cobra.Command {
	return a.ofNodes("start", "Start nodes that were killed or stopped, in their folders", "", "runs",
		func(cmd *cobra.Command, t *testnet.Net, n *testnet.Node) error { return t.Start(cmd.Context(), n) })
}

func (a *app) testnetRestartCmd() *cobra.Command {
	return a.ofNodes("restart", "Start nodes again in their folders, one after the other",
		"Start nodes again in their folders, one after the other. Those that run are asked to leave first; those that "+
			"were killed or\nstopped are started.",
		"runs again", func(cmd *cobra.Command, t *testnet.Net, n *testnet.Node) error { return t.Restart(cmd.Context(), n) })
}
