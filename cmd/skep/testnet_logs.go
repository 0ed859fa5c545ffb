package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) testnetLogsCmd() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{Use: "logs NODE", Short: "Print a node's log", Args: oneArg("one node, as in n3"),
		ValidArgsFunction: a.completeNet,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.testnet()
			if err != nil {
				return err
			}
			n, err := t.Node(args[0])
			if err != nil {
				return err
			}
			f, err := os.Open(t.Log(n))
			if errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("node %s has not run yet", n.Name)
			}
			if err != nil {
				return err
			}
			defer f.Close()
			for {
				if _, err := io.Copy(a.out, f); err != nil || !follow {
					return err
				}
				select {
				case <-cmd.Context().Done():
					return nil
				case <-time.After(200 * time.Millisecond):
				}
			}
		}}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on as it grows, until interrupted")
	return cmd
}
