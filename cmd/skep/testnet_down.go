package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"skep/testnet"
)

func (a *app) testnetDownCmd() *cobra.Command {
	return &cobra.Command{Use: "down", Short: "End all nodes and remove everything of the testnet", Args: noArgs,
		Long: "End all nodes and remove everything of the testnet, also what an interrupted up left behind.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.netFolder()
			if err != nil {
				return err
			}
			switch err := testnet.Remove(cmd.Context(), dir, a.net); {
			case errors.Is(err, testnet.ErrNone):
				fmt.Fprintf(a.out, "there is no testnet %s\n", a.net)
				return nil
			case err != nil:
				return err
			}
			fmt.Fprintf(a.out, "testnet %s is gone\n", a.net)
			return nil
		}}
}
