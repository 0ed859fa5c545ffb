package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"skep/testnet"
)

func (a *app) testnetCmd() *cobra.Command {
	c := parent("testnet", "Run a grid of real nodes on this machine, and break it", a.testnetUpCmd(),
		a.testnetStatusCmd(), a.testnetRunCmd(), a.testnetJobCmd(),
		a.testnetKillCmd(), a.testnetStopCmd(), a.testnetStartCmd(), a.testnetRestartCmd(), a.testnetPauseCmd(),
		a.testnetResumeCmd(),
		a.testnetCutCmd(), a.testnetSlowCmd(), a.testnetHealCmd(), a.testnetLogsCmd(), a.testnetDownCmd(),
		a.testnetChaosCmd())
	c.PersistentFlags().StringVar(&a.net, "net", "default", "which testnet")
	return c
}

// netFolder returns the folder of the testnet, beside that of the user's own node.
func (a *app) netFolder() (string, error) {
	if !testnet.GoodName.MatchString(a.net) {
		return "", fmt.Errorf("--net %.40q: want a-z, then a-z, 0-9 and hyphens, at most 32", a.net)
	}
	return filepath.Join(filepath.Dir(dataHome()), "skep-testnet", a.net), nil
}

// testnet opens the testnet of the command line.
func (a *app) testnet() (*testnet.Net, error) {
	dir, err := a.netFolder()
	if err != nil {
		return nil, err
	}
	t, err := testnet.Open(dir)
	if errors.Is(err, testnet.ErrNone) {
		return nil, fmt.Errorf("there is no testnet %s: start one with: skep testnet up -n 5%s", a.net, a.netFlag())
	}
	return t, err
}

// netFlag returns the flags that another command line needs for the same testnet.
func (a *app) netFlag() string {
	if a.net == "default" {
		return ""
	}
	return " --net " + a.net
}

// ofNodes returns a verb that applies f to each of some nodes.
func (a *app) ofNodes(use, short, long, did string,
	f func(*cobra.Command, *testnet.Net, *testnet.Node) error) *cobra.Command {
	return &cobra.Command{Use: use + " NODE…", Short: short, Long: long, ValidArgsFunction: a.completeNet,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s: want the names of nodes, as in n1 n3: see skep testnet status", cmd.Name())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.testnet()
			if err != nil {
				return err
			}
			var nodes []*testnet.Node // all are looked up before f is applied to one
			for _, name := range args {
				n, err := t.Node(name)
				if err != nil {
					return err
				}
				nodes = append(nodes, n)
			}
			var errs []error // a failure at one node does not stop the others
			for _, n := range nodes {
				if err := f(cmd, t, n); err != nil {
					errs = append(errs, err)
					continue
				}
				fmt.Fprintf(a.out, "%s %s\n", n.Name, did)
			}
			return errors.Join(errs...)
		}}
}

// completeNet completes names of nodes.
func (a *app) completeNet(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if t, err := a.testnet(); err == nil {
		for _, n := range t.Nodes() {
			names = append(names, n.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
