package main

import "github.com/spf13/cobra"

func (a *app) nodeCmd() *cobra.Command {
	return parent("node", "Ask about nodes", a.nodeListCmd(), a.nodeDescribeCmd(), a.nodeTokenCmd())
}
