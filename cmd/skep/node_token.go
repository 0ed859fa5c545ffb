package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) nodeTokenCmd() *cobra.Command {
	return &cobra.Command{Use: "token", Short: "Print the token that another machine joins with", Args: noArgs,
		Long: "Print the token that another machine joins with: skep up --join TOKEN.\n\nIt holds the network's secret. Who has it can run programs as the user of every node.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			t, err := c.Token(cmd.Context())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.out, t.Token)
			return err
		}}
}
