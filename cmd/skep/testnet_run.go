package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) testnetRunCmd() *cobra.Command {
	cmd := a.runCmd()
	cmd.Use, cmd.Short = "run [--node NODE] [flags] -- CMD ARGS",
		"Submit a command to a node of the testnet, as skep run does"
	run := cmd.RunE
	var node string
	cmd.Flags().StringVar(&node, "node", "", "which node (default the first that answers)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.at(cmd, node); err != nil {
			return err
		}
		return run(cmd, args)
	}
	return cmd
}

// at makes the verbs that talk to a node use one of the testnet.
func (a *app) at(cmd *cobra.Command, name string) error {
	t, err := a.testnet()
	if err != nil {
		return err
	}
	if name != "" {
		n, err := t.Node(name)
		if err != nil {
			return err
		}
		if err := t.Runs(cmd.Context(), n); err != nil {
			return fmt.Errorf("%w%s", err, a.netFlag())
		}
		a.dataDir = t.Folder(n)
		return nil
	}
	s, err := t.Status(cmd.Context())
	if err != nil {
		return err
	}
	for i := range s.Nodes {
		if s.Nodes[i].Answers {
			a.dataDir = s.Nodes[i].Folder
			return nil
		}
	}
	return fmt.Errorf("no node of testnet %s answers: see skep testnet status%s", t.Name(), a.netFlag())
}
