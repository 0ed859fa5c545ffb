package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"skep/cmd/skep/resources"
	"skep/cmd/skep/top"
	"skep/grid"
	"skep/node/api/v1"
	"skep/node/p2p"
)

func (a *app) nodeListCmd() *cobra.Command {
	var out format
	var prices bool
	cmd := &cobra.Command{Use: "list", Short: "List the nodes that this one knows, itself first", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			l, err := c.Nodes(cmd.Context())
			if err != nil {
				return err
			}
			return out.print(a.out, &l, func(w *tabwriter.Writer) { nodeTable(w, l.Nodes, prices) })
		}}
	cmd.Flags().BoolVar(&prices, "prices", false, "show what each node asks under policies as cda_res")
	outputFlag(cmd, &out)
	return cmd
}

// topCmd is the live view of nodes and jobs.
func (a *app) topCmd() *cobra.Command {
	return &cobra.Command{Use: "top", Short: "Watch the nodes and the jobs of the grid in the terminal", Args: noArgs,
		Long: "Watch the nodes and the jobs of the grid in the terminal: what is free and what waits, and how far each job " +
			"is.\nWhile the node does not answer that is said, and what it answered last is shown.\n\n" +
			"  ↑ ↓ page up, page down, home, end   move        tab   between nodes and jobs\n" +
			"  l or enter   follow the output of a task of the selected job; ← → its other tasks\n" +
			"  e   explain the job        c   cancel it, after a question        q   quit, esc   back\n\n" +
			"For programs there are skep node list --output json and skep job list --output json.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := top.CheckTerminal(a.in, a.out); err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			c.Tell(func(string) {}) // it would be in the way, and other verbs say it too
			return top.Run(cmd.Context(), top.Options{Client: c, In: a.in, Out: a.out, Text: top.Text{Age: age,
				Clean: sanitizeLine}, Explain: func(ctx context.Context, ref string) (string, error) {
				e, err := c.Explain(ctx, ref, 0, 20)
				if err != nil {
					return "", err
				}
				var text strings.Builder
				err = format("table").print(&text, &e, func(w *tabwriter.Writer) { printExplanation(w, &e) })
				return text.String(), err
			}})
		}}
}

func nodeTable(w io.Writer, nodes []v1.Node, prices bool) {
	head := []any{"NAME", "NODE", "STATE", "CPUS", "MEMORY", "BACKLOG", "SPEED", "AVAIL", "RTT", "NEWS", "ISOLATION",
		"LABELS"}
	counted := resources.Any(nodes)
	const behind = 5 // what a node has, cores and memory, comes first
	if counted {
		head = slices.Insert(head, behind, any("RESOURCES"))
	}
	if prices {
		head = append(head, "PRICE")
	}
	row(w, head...)
	for i := range nodes {
		n := &nodes[i]
		cells := []any{orDash(n.Name), v1.Short(n.ID), stateText(n), fmt.Sprintf("%.3g/%.3g", n.FreeCores, n.Cores),
			humanize.IBytes(uint64(max(n.FreeMem, 0))) + "/" + humanize.IBytes(uint64(max(n.Memory, 0))),
			secs(n.Backlog), fmt.Sprintf("%.2f", n.Speed), fmt.Sprintf("%.0f%%", 100*n.Up), secs(n.RTT), secs(n.Age),
			n.Isolation, orDash(labelText(n.Labels))}
		if counted {
			cells = slices.Insert(cells, behind, any(resources.FreeText(n.Resources)))
		}
		if prices {
			cells = append(cells, priceText(n.Price))
		}
		row(w, cells...)
	}
}

// priceText is a price as bids are written; none is a dash.
func priceText(price float64) string {
	if price == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3g", price)
}

// asks says a price behind something else; nothing if there is none.
func asks(price float64) string {
	if price == 0 {
		return ""
	}
	return ", asks " + priceText(price)
}

// stateText returns a node's state, and why it takes no work where the state does not show it.
func stateText(n *v1.Node) string {
	if n.Copy != nil {
		return n.State + " (copied)"
	}
	if n.Version != nil {
		return fmt.Sprintf("%s (speaks protocol %d, this node %d)", n.State, n.Version.Theirs, n.Version.Ours)
	}
	if n.Refuses == "" || n.State == v1.NodeDraining || n.State == v1.NodeLeaving {
		return n.State
	}
	return n.State + " (" + n.Refuses + ")"
}

// labelText returns labels in order.
func labelText(labels map[string]string) string {
	var s []string
	for k, v := range labels {
		if k != grid.IsolationLabel && !grid.IsFeatureLabel(k) { // the first has a column; nearly every node has the others
			s = append(s, k+"="+v)
		}
	}
	slices.Sort(s)
	return strings.Join(s, ",")
}

// versionGapsOf returns the nodes that speak another version of the control protocol.
func versionGapsOf(d *p2p.Driver) map[grid.NodeID]v1.VersionGap {
	found := map[grid.NodeID]v1.VersionGap{}
	for n, g := range d.VersionGaps() {
		found[n] = v1.VersionGap{Theirs: g.Theirs, Ours: g.Ours, Seen: time.Since(g.Seen).Seconds()}
	}
	return found
}
