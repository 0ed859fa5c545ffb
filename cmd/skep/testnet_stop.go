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
