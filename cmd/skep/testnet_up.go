package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"skep/testnet"
)

// upFlags are the flags of `skep testnet up`.
type upFlags struct {
	n         int
	spec      string
	image     string
	compose   string
	processes bool
}

func (a *app) testnetUpCmd() *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{Use: "up", Short: "Start the nodes of a new testnet", Args: noArgs,
		Long: `Start real nodes on this machine, each with a folder of its own, and return when they know each other.
They run until skep testnet down.

Where a Docker engine answers each node is a container with an address of its own on a network of their own; the
image is made of this program and a static busybox, nothing is pulled. Elsewhere, and with --processes, nodes are
processes: they share this machine's loopback, and cannot be cut off from each other or slowed down.

A spec file, for nodes that differ:

  nodes:
    - {name: lab, count: 6, cpus: 2, memory: 1GiB}     # lab1 to lab6
    - {name: far, count: 2, labels: {zone: b}}
  links:                                               # what the nodes of a group send
    - {of: far, latency: 40ms, loss: 0.01, rate: 2MiB} # rate: a second`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			began := time.Now()
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			o, err := a.testnetOptions(cmd, &f)
			if err != nil {
				return err
			}
			dir, err := a.netFolder()
			if err != nil {
				return err
			}
			o.Name = a.net
			if f.compose != "" {
				if err := testnet.Compose(f.compose, *o); err != nil {
					return fmt.Errorf("--compose: %w", err)
				}
				fmt.Fprintf(a.out, "docker compose -f %s up --build\n", quoted(filepath.Join(f.compose, testnet.ComposeFile)))
				return nil
			}
			if o.Kind == "" {
				o.Kind = testnet.Containers
				if err := testnet.Engine(ctx); err != nil {
					o.Kind = testnet.Processes
					o.Why = fmt.Sprintf(" (no containers: %v)", err)
				}
			}
			t, err := testnet.Up(ctx, dir, *o)
			if err != nil {
				if ctx.Err() != nil && cmd.Context().Err() == nil {
					if err == context.Cause(ctx) {
						err = errors.New("what had begun is removed")
					}
					return &exitError{128 + 2, fmt.Errorf("interrupted: %w", err)}
				}
				return err
			}
			a.printUsage(t, time.Since(began))
			return nil
		}}
	fl := cmd.Flags()
	fl.IntVarP(&f.n, "nodes", "n", 5, "how many nodes, where there is no spec")
	fl.StringVar(&f.spec, "spec", "", "file that says what the nodes are like")
	fl.StringVar(&f.image, "image", "",
		"image that is here already, with skep as /bin/skep and a busybox as /bin/busybox (default one made of this program)")
	fl.StringVar(&f.compose, "compose", "",
		"start nothing, but write a compose file of the same nodes into this new folder")
	fl.BoolVar(&f.processes, "processes", false, "run the nodes as processes on loopback")
	return cmd
}

// testnetOptions turns the flags into options.
func (a *app) testnetOptions(cmd *cobra.Command, f *upFlags) (*testnet.Options, error) {
	o := &testnet.Options{Image: f.image, Note: func(format string, args ...any) {
		fmt.Fprintf(a.err, format+" …\n", args...)
	}}
	if f.processes {
		o.Kind = testnet.Processes
	}
	if f.processes && (f.image != "" || f.compose != "") {
		return nil, errors.New("--processes: want it without --image and --compose, which are about containers")
	}
	var err error
	if o.Binary, err = os.Executable(); err != nil {
		return nil, err
	}
	if f.spec == "" {
		if f.n < 1 || f.n > testnet.MaxNodes {
			return nil, fmt.Errorf("-n %d: want 1 to %d", f.n, testnet.MaxNodes)
		}
		o.Spec = testnet.Plain(f.n)
		return o, nil
	}
	if cmd.Flags().Changed("nodes") {
		return nil, errors.New("-n and --spec: want one of them, the spec says how many")
	}
	b, err := a.readFile(f.spec)
	if err != nil {
		return nil, err
	}
	s, err := readTestnet(f.spec, b)
	if err != nil {
		return nil, err
	}
	o.Spec = *s
	return o, nil
}

// printUsage prints what can be done with a testnet.
func (a *app) printUsage(t *testnet.Net, d time.Duration) {
	nodes := t.Nodes()
	last := nodes[len(nodes)-1].Name
	fmt.Fprintf(a.out, "READY %d nodes as %s, %s to %s, isolation of tasks %s, after %.1f s\n", len(nodes), t.Kind(),
		nodes[0].Name, last, t.Isolation(), d.Seconds())
	net := a.netFlag()
	fmt.Fprintf(a.out,
		"  skep testnet status%s\n  skep testnet run%s --node %s -- hostname\n  skep testnet kill%s %s\n  skep "+
			"testnet down%s\n", net, net, last, net, last, net)
	fmt.Fprintf(a.out, "Another node joins with:\n  %s | skep up --data-dir %s --join -\n",
		tokenCommand(t.Folder(&nodes[0])), quoted(freeFolder(dataHome())))
}
