package main

import "github.com/spf13/cobra"

func (a *app) testnetJobCmd() *cobra.Command {
	cmd := a.jobCmd()
	cmd.Short = "Submit jobs to a node of the testnet and ask about them, as skep job does"
	var node string
	cmd.PersistentFlags().StringVar(&node, "node", "", "which node (default the first that answers)")
	cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.at(cmd, node) }
	return cmd
}
