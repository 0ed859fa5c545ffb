package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) nodeTokenCmd() *cobra.Command {
	var api bool
	cmd := &cobra.Command{Use: "token", Short: "Print the token that another machine joins with", Args: noArgs,
		Long: "Print the token that another machine joins with:\n\n" +
			"  skep up --join -             and paste it, or\n" +
			"  skep up --join-file FILE     with a file of mode 0600 that has it\n\n" +
			"It holds the network's secret. Who has it is a member: it can run programs on every node,\n" +
			"in the boxes of that node's level (as its user where that is none), and see the jobs of others.\n\n" +
			"With --api, where the node was started with skep up --api: a line that has the shell of another machine\n" +
			"ask this node, without a node there. It holds address, token and the hash of the certificate; who has it\n" +
			"can do all that you can here.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if api {
				line, err := remoteLine(a.folder())
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(a.out, line)
				return err
			}
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
	cmd.Flags().BoolVar(&api, "api", false, "print what another machine needs to ask this node, for its shell or a file")
	return cmd
}
