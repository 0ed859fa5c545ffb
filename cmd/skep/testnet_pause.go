package main

import (
	"github.com/spf13/cobra"

	"skep/testnet"
)

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
