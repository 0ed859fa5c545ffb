package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"skep/grid"
	"skep/node/api/v1"
)

func (a *app) nodeListCmd() *cobra.Command {
	var out format
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
			return out.print(a.out, &l, func(w *tabwriter.Writer) { nodeTable(w, l.Nodes) })
		}}
	outputFlag(cmd, &out)
	return cmd
}

func nodeTable(w io.Writer, nodes []v1.Node) {
	row(w, "NAME", "NODE", "STATE", "CPUS", "MEMORY", "BACKLOG", "SPEED", "AVAIL", "RTT", "NEWS", "ISOLATION", "LABELS")
	for i := range nodes {
		n := &nodes[i]
		row(w, orDash(n.Name), short(n.ID), stateText(n), fmt.Sprintf("%.3g/%.3g", n.FreeCores, n.Cores),
			humanize.IBytes(uint64(max(n.FreeMem, 0)))+"/"+humanize.IBytes(uint64(max(n.Memory, 0))),
			secs(n.Backlog), fmt.Sprintf("%.2f", n.Speed), fmt.Sprintf("%.0f%%", 100*n.Up), secs(n.RTT), secs(n.Age),
			n.Isolation, orDash(labelText(n.Labels)))
	}
}

// stateText returns a node's state, and why it takes no work where the state does not show it.
func stateText(n *v1.Node) string {
	if n.Refuses == "" || n.State == v1.NodeDraining || n.State == v1.NodeLeaving {
		return n.State
	}
	return n.State + " (" + n.Refuses + ")"
}

// labelText returns labels in order.
func labelText(labels map[string]string) string {
	var s []string
	for k, v := range labels {
		if k != grid.IsolationLabel { // has a column of its own
			s = append(s, k+"="+v)
		}
	}
	slices.Sort(s)
	return strings.Join(s, ",")
}
