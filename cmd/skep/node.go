package main

import "github.com/spf13/cobra"

func (a *app) nodeCmd() *cobra.Command {
	return parent("node", "Ask about nodes, and drain them", a.nodeListCmd(), a.nodeDescribeCmd(), a.nodeDrainCmd(),
		a.nodeTokenCmd())
}
