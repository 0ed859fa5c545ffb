package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) testnetHealCmd() *cobra.Command {
	return &cobra.Command{Use: "heal", Short: "End cuts and slowness and let paused nodes go on", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := a.testnet()
			if err != nil {
				return err
			}
			if err := t.Heal(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintln(a.out, "healed")
			return nil
		}}
}
