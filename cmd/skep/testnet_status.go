package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	v1 "skep/node/api/v1"
	"skep/testnet"
)

func (a *app) testnetStatusCmd() *cobra.Command {
	var out format
	cmd := &cobra.Command{Use: "status", Short: "Show the nodes: whom they know, what they run, how old their news is",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := a.testnet()
			if err != nil {
				return err
			}
			s, err := t.Status(cmd.Context())
			if err != nil {
				return err
			}
			if err := out.print(a.out, s, func(w *tabwriter.Writer) { testnetTable(w, s) }); err != nil || !out.isTable() {
				return err
			}
			if len(s.Cut) > 0 {
				fmt.Fprintf(a.out, "cut: %s\n", cutText(s.Cut))
			}
			if !s.Ready {
				fmt.Fprintf(a.err, "skep: the start was interrupted: remove it with skep testnet down%s\n", a.netFlag())
			}
			return nil
		}}
	outputFlag(cmd, &out)
	return cmd
}

func testnetTable(w io.Writer, s *testnet.Status) {
	row(w, "NODE", "STATE", "ID", "PEERS", "KNOWN", "RUNNING", "QUEUED", "PENDING", "JOBS", "VIEW AGE", "NETWORK")
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !n.Answers {
			state := string(n.State)
			if n.State == testnet.Running {
				state = "silent"
			}
			row(w, n.Name, state, v1.Short(n.ID), "-", "-", "-", "-", "-", "-", "-", shapeText(n.Slow))
			continue
		}
		row(w, n.Name, n.State, v1.Short(n.ID), n.Peers, n.Known, n.Running, n.Queued, n.Pending, n.Jobs, secs(n.ViewAge),
			shapeText(n.Slow))
	}
}

// shapeText describes the shape of a node's network.
func shapeText(s *testnet.Shape) string {
	if s == nil {
		return "-"
	}
	var p []string
	if s.Latency > 0 {
		p = append(p, "+"+s.Latency.String())
	}
	if s.Loss > 0 {
		p = append(p, fmt.Sprintf("%.3g %% lost", 100*s.Loss))
	}
	if s.Rate > 0 {
		p = append(p, humanize.IBytes(uint64(s.Rate))+"/s")
	}
	return strings.Join(p, ", ")
}

// cutText returns the sides of a cut as on the command line.
func cutText(sides [][]string) string {
	var s []string
	for _, side := range sides {
		s = append(s, strings.Join(side, " "))
	}
	return strings.Join(s, " | ")
}
