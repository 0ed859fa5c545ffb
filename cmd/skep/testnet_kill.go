package main

import (
	"github.com/spf13/cobra"

	"skep/testnet"
)

func (a *app) testnetKillCmd() *cobra.Command {
	var silent bool
	cmd := a.ofNodes("kill", "End nodes at once, as a crash would", "", "is killed",
		func(cmd *cobra.Command, t *testnet.Net, n *testnet.Node) error {
			if silent {
				return t.PowerOff(cmd.Context(), n)
			}
			return t.Kill(cmd.Context(), n)
		})
	cmd.Flags().BoolVar(&silent, "silent", false, "as a machine that loses its power: no connection is closed")
	return cmd
}

func (a *app) testnetPauseCmd() *cobra.Command {
	return a.ofNodes("pause", "Stop nodes where they stand: connections stay open, nothing answers", "", "is paused",
		func(cmd *cobra.Command, t *testnet.Net, n *testnet.Node) error {
			return t.Pause(cmd.Context(), n)
		})
}

func (a *app) testnetResumeCmd() *cobra.Command {
	return a.ofNodes("resume", "Let paused nodes go on", "", "goes on", func(cmd *cobra.Command, t *testnet.Net,
		n *testnet.Node) error {
		return t.Resume(cmd.Context(), n)
	})
}
