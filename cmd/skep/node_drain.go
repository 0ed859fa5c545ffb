package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"skep/cmd/skep/progress"
	"skep/node"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// Interval between polls of a draining node: short at first, as most have little to do.
const (
	minPoll = 50 * time.Millisecond
	maxPoll = time.Second
)

// drainOptions are the flags of `skep node drain`.
type drainOptions struct {
	self, undo, noWait bool
	wait               bool // the default, given explicitly
	deadline           time.Duration
	out                format
}

func (a *app) nodeDrainCmd() *cobra.Command {
	var o drainOptions
	cmd := &cobra.Command{Use: "drain ID|--self", Short: "Have a node take nothing new, and wait until it may be stopped",
		ValidArgsFunction: a.completeNodes,
		Long: "Have a node take nothing new, and wait until it may be stopped: nobody's work waits for it then.\n\n" +
			"Tasks that have not started are placed elsewhere. Those that run may end until the deadline; then they are\n" +
			"stopped, count as lost, and run again elsewhere if their jobs allow. Unfinished jobs that were submitted to the " +
			"node hold\n" +
			"it, unless other nodes keep their records too; stopped nevertheless, it goes on with them when it is " +
			"started again.\n" +
			"A node that is started again takes work again. To stop waiting does not end the drain: --undo does.",
		Args: func(_ *cobra.Command, args []string) error { return o.check(args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			ref := "self"
			if len(args) == 1 {
				ref = args[0]
			}
			d, err := a.drain(cmd.Context(), c, ref, &o)
			if err != nil {
				return err
			}
			return o.out.print(a.out, &d, func(w *tabwriter.Writer) { fmt.Fprintln(w, drainText(&d)) })
		}}
	fl := cmd.Flags()
	fl.BoolVar(&o.self, "self", false, "the node that is asked")
	fl.DurationVar(&o.deadline, "deadline", 10*time.Minute, "how long running tasks may go on")
	fl.BoolVar(&o.wait, "wait", true, "wait until the node may be stopped")
	fl.BoolVar(&o.noWait, "no-wait", false, "return at once")
	fl.BoolVar(&o.undo, "undo", false, "have the node take work again")
	cmd.MarkFlagsMutuallyExclusive("wait", "no-wait")
	cmd.MarkFlagsMutuallyExclusive("undo", "deadline")
	outputFlag(cmd, &o.out)
	return cmd
}

func (o *drainOptions) check(args []string) error {
	switch {
	case o.self == (len(args) == 1) || len(args) > 1 || len(args) == 1 &&
		(args[0] == "" || strings.ContainsAny(args[0], "/?#%")):
		return fmt.Errorf("drain: want one node: an ID, 4 characters or more of its beginning, a name, or --self")
	case o.deadline < 0 || o.deadline > node.MaxDrain:
		return fmt.Errorf("--deadline %v: want 0 to %v", o.deadline, node.MaxDrain)
	}
	return nil
}

// drain starts the drain, and waits for its end if requested.
func (a *app) drain(ctx context.Context, c *client.Client, ref string, o *drainOptions) (v1.Drain, error) {
	if o.undo {
		return c.Undrain(ctx, ref)
	}
	d, err := c.Drain(ctx, ref, o.deadline)
	if err != nil || o.noWait || !o.wait {
		return d, err
	}
	ref = d.Node
	p, done := a.passingDisplay()
	defer done()
	most := float64(max(1, drainLoad(&d)))
	for look := minPoll; d.Draining && !d.Over; look = min(2*look, maxPoll) {
		p.Show(progress.State{Done: max(most-float64(drainLoad(&d)), 0), Total: most, Text: drainText(&d)})
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return d, ctx.Err()
		}
		if d, err = c.Draining(ctx, ref); err != nil {
			return d, err
		}
	}
	if !d.Draining {
		return d, fmt.Errorf("node %s takes work again: somebody took the drain back, or started it again", drainName(&d))
	}
	return d, nil
}

// drainLoad counts what keeps a node from being stopped.
func drainLoad(d *v1.Drain) int { return d.Running + d.Queued + d.Unsaved + d.Own }

func drainName(d *v1.Drain) string { return strings.TrimSpace(d.Name + " (" + v1.Short(d.Node) + ")") }

// drainText describes the progress of a drain in a line.
func drainText(d *v1.Drain) string {
	switch {
	case !d.Draining:
		return drainName(d) + " takes work"
	case d.Over:
		return drainName(d) + " may be stopped"
	}
	var held []string
	hold := func(n int, what, more string) {
		if n > 0 {
			held = append(held, english.Plural(n, what, "")+more)
		}
	}
	hold(d.Running, "running task", " (stopped in "+secs(d.Left)+")")
	hold(d.Queued, "queued task", " of nodes that are not connected")
	hold(d.Unsaved, "unsaved result", "")
	hold(d.Own, "unfinished job", " submitted to it")
	return drainName(d) + " is draining; held by " + strings.Join(held, ", ")
}
