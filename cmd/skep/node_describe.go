package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	v1 "skep/node/api/v1"
)

func (a *app) nodeDescribeCmd() *cobra.Command {
	var out format
	cmd := &cobra.Command{Use: "describe ID", Short: "Say everything that is known of a node",
		ValidArgsFunction: a.completeNodes,
		Long:              "Say everything that is known of a node, by its ID, a beginning of it, its name, or self.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" || strings.ContainsAny(args[0], "/?#%") {
				return fmt.Errorf("describe: want one node: an ID, 4 characters or more of its beginning, a name, or self")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			n, err := c.Node(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return out.print(a.out, &n, func(w *tabwriter.Writer) { describeNode(w, &n) })
		}}
	outputFlag(cmd, &out)
	return cmd
}

func describeNode(w io.Writer, n *v1.Node) {
	row(w, "node", n.ID)
	row(w, "name", orDash(n.Name))
	row(w, "state", n.State)
	if n.Refuses != "" {
		row(w, "no work", n.Refuses)
	}
	if c := n.Certificate; c != nil {
		row(w, "certificate", fmt.Sprintf("%s: %s, until %s, %s", c.Name, strings.Join(c.Roles, ","),
			c.Until.Local().Format(time.DateTime), c.State))
	}
	if c := n.Copy; c != nil {
		var where string
		if c.Process != 0 { // of the node asked
			where = fmt.Sprintf("host %s, process %d, ", orDash(c.Host), c.Process)
		}
		if c.Addr != "" {
			where += "at " + c.Addr + ", "
		}
		row(w, "copied", "a second process has its identity ("+where+secs(c.Seen)+" ago): see skep up --new-identity")
	}
	row(w, "cpus", fmt.Sprintf("%.3g free of %.3g", n.FreeCores, n.Cores))
	if n.LeastSpeed > 0 {
		row(w, "", fmt.Sprintf("shared by bids, which are %.3g together, each task at %.3g of its speed or more", n.Bids,
			n.LeastSpeed))
	}
	row(w, "memory", humanize.IBytes(uint64(max(n.FreeMem, 0)))+" free of "+humanize.IBytes(uint64(max(n.Memory, 0))))
	for _, kind := range slices.Sorted(maps.Keys(n.Resources)) {
		x := n.Resources[kind]
		text := fmt.Sprintf("%d free of %d", x.Free, x.Total)
		if x.Wait > 0 {
			text += ", a further task would start in " + secs(x.Wait)
		}
		row(w, kind, text)
	}
	row(w, "backlog", secs(n.Backlog))
	row(w, "speed", fmt.Sprintf("%.2f of the reference", n.Speed))
	row(w, "availability", fmt.Sprintf("%.0f %%", 100*n.Up))
	row(w, "round trip", secs(n.RTT))
	row(w, "news", fmt.Sprintf("%s old, over %s", secs(n.Age), english.Plural(int(n.Hops), "hop", "")))
	row(w, "isolation", n.Isolation)
	if n.Private {
		row(w, "", "takes no tasks of others")
	}
	if n.Accept != "" {
		row(w, "accepts", n.Accept)
	}
	for _, f := range n.Findings {
		row(w, "", f)
	}
	row(w, "labels", orDash(labelText(n.Labels)))
	row(w, "engines", strings.Join(n.Engines, ","))
	for _, a := range n.Addrs {
		row(w, "address", a)
	}
	for _, r := range n.Rates {
		row(w, "class", r.Class, fmt.Sprintf("arrivals %.3g/s, executions %.3g/s a slot", r.Arrive, r.Execute))
	}
}
