package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"skep/balance/market"
	"skep/sim/marketplace"
	"skep/sim/queueing"
)

const simMarketLong = `Simulate a computational market: tasks that arrive at random and bid, servers with a background load of their
own, and one matcher that runs a market protocol, or several protocols on the same tasks. Runs of a seed are repeatable.

CT is the time from a task's creation until its client has the result, WCT the same times the task's weight, in units of
the time that a mean task takes alone on a mean server. WCR is the weight of the tasks on time over that of all, where
there are hard deadlines, and UTILITY the mean value delivered, where the value falls with the slowdown. OF FIRST is
the last of these that the system has, over that of the first protocol in the same runs. Each has the half-width of its
95 % interval over the replications.

The file has, each with its default: servers: {count: 32, speed: 0.1, units: 10, ratio: 1} (the slowest over the mean
speed), load: 0.9, background: {share: 0, size: 1, units: 1} (share of the load), tasks: {spread: 10, weights: [0, 2],
burst: 1, deadline: {factor: 1.1} or {slow1: 1.1, slow2: [1.1, 3]}}, delay: 0, per_size: 0, ahead: 0 (tasks that a
server which takes one at a time may have waiting), owners: 0 (who match their own tasks, without a matcher), reprice: 1,
ageing: {interval: 0.1, time: 10, max: 2}, and readings of what the source leaves open: {deadlines: left, whole or none
(by what those of tasks that are to move are judged), news: remembered or last (whether the matcher remembers a task that
is on its way to a server), late: kept or dropped (suspended tasks whose deadline has passed), revenue: offered or
capacity (over which reserve prices take it), paid: on_time or all (whether late results earn anything), running: free or
judged (whether tasks that run move though they will be late), equal: arrival or bid (which goes first of tasks that would
deliver equally much)}, the first of each by default.`

func (a *app) simMarketCmd() *cobra.Command {
	var out format
	o := marketplace.DefaultOptions()
	o.Protocols = []string{"cda", "psp", "hbp_t", "pe_p"}
	cmd := &cobra.Command{Use: "market FILE", Short: "Simulate a computational market under its protocols",
		Long:    simMarketLong,
		Example: "  skep sim market grid.yaml --protocol cda,cda_res:0.5,hbp_t:5,pda:0.1 --replications 40",
		Args:    oneArg("the file of a market"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.simMarket(cmd.Context(), args[0], o, !cmd.Flags().Changed("protocol"), out)
		}}
	f := cmd.Flags()
	f.StringSliceVar(&o.Protocols, "protocol", o.Protocols, "protocols, as in cda,hbp_t:5")
	f.Float64Var(&o.Warmup, "warmup", o.Warmup, "time at the beginning whose tasks are not measured, units")
	f.Float64Var(&o.Measured, "time", o.Measured, "time after it whose tasks are measured, units")
	f.Float64Var(&o.Tail, "tail", o.Tail, "time after that in which they may end, units")
	f.IntVar(&o.Replications, "replications", o.Replications, "runs for each protocol")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "of all chance")
	cmd.RegisterFlagCompletionFunc("protocol", cobra.FixedCompletions(market.Names(),
		cobra.ShellCompDirectiveNoFileComp))
	outputFlag(cmd, &out)
	return cmd
}

// simMarket runs the file's market; usual = under the protocols that it is run under when none are named, without those
// that it does not suit.
func (a *app) simMarket(ctx context.Context, file string, o marketplace.Options, usual bool, out format) error {
	s, err := readSystem(a, file, marketplace.Read)
	if err := errors.Join(err, o.Check()); err != nil {
		return err
	}
	if usual && s.Owners > 0 {
		o.Protocols = slices.DeleteFunc(o.Protocols, func(name string) bool {
			p, err := market.Parse(name)
			return err == nil && p.Migrates
		})
	}
	all := simulation[marketplace.Report]{runs: len(o.Protocols) * o.Replications,
		run: func(ctx context.Context, progress func(done, of int)) (*marketplace.Report, error) {
			o.Progress = progress
			return marketplace.Run(ctx, s, o)
		},
		done: func(r *marketplace.Report) (done int) {
			for _, x := range r.Results {
				done += x.Runs
			}
			return done
		},
		table: func(w *tabwriter.Writer, r *marketplace.Report) { marketTable(w, s, r) }}
	return all.do(ctx, a, out)
}

func marketTable(w io.Writer, s *marketplace.System, r *marketplace.Report) {
	fmt.Fprintf(w, "%s: %d servers, %.4g tasks in a unit of time (load %.1f %%)\n\n", orDash(s.Name), s.Servers.Count,
		r.Rate, 100*s.Load)
	head := []any{"PROTOCOL", "CT", "WCT"}
	hard, soft := s.Tasks.Factor > 0, s.Tasks.Slow1 > 0
	if hard {
		head = append(head, "WCR")
	}
	if soft {
		head = append(head, "UTILITY")
	}
	row(w, append(head, "OF FIRST", "FINISHED", "MOVES", "STOPS", "MESSAGES")...)
	for _, x := range r.Results {
		cells := []any{x.Protocol, spread(x.CT), spread(x.WCT)}
		if hard {
			cells = append(cells, spread(x.WCR))
		}
		if soft {
			cells = append(cells, spread(x.Utility))
		}
		mean := func(e queueing.Estimate) string { return orNone("%.2f", float64(e.Mean)) }
		row(w, append(cells, spread(x.Relative), orNone("%.1f %%", 100*float64(x.Finished.Mean)), mean(x.Moves),
			mean(x.Suspensions), mean(x.Messages))...)
	}
}
