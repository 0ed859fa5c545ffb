package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"skep/sim/queueing"
)

const simQueueLong = `Simulate a queueing system: classes of tasks that arrive at random, machines that run each class at their own
rate, and one policy or several, on the same tasks. Runs of a seed are repeatable.

W is the time of a task from arrival to completion, Q the number of tasks in the system, each with the half-width
of its 95 % interval over the replications. LITTLE is the difference of Q and arrival rate times W: what is not
near 0 is a sign of too short a run. A policy under which the system fills up is shown as unstable; one that was run for
too short a time to settle can look the same. So is one of which the load is known before the run to be more than
the machines that it takes can carry, however slowly they fill up: the line below the table says so.`

func (a *app) simQueueCmd() *cobra.Command {
	var out format
	o := queueing.Options{Policies: []string{"mct", "lpas"}, Time: 20000, Replications: 10, Seed: 1}
	cmd := &cobra.Command{Use: "queue FILE", Short: "Simulate a queueing system under placement policies",
		Long:    simQueueLong,
		Example: "  skep sim queue two-groups.yaml --policy lpas,kpb:3,mct --time 20000 --replications 30",
		Args:    oneArg("the file of a system"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.simQueue(cmd.Context(), args[0], o, out)
		}}
	f := cmd.Flags()
	f.StringSliceVar(&o.Policies, "policy", o.Policies, "policies, as in lpas,kpb:3")
	f.Float64Var(&o.Time, "time", o.Time, "length of a run, time units")
	f.Float64Var(&o.Warmup, "warmup", 0, "part of it that is not counted, time units")
	f.IntVar(&o.Replications, "replications", o.Replications, "runs for each policy")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "of all chance")
	cmd.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(queueing.Policies(),
		cobra.ShellCompDirectiveNoFileComp))
	outputFlag(cmd, &out)
	return cmd
}

// simQueue runs the file's system.
func (a *app) simQueue(ctx context.Context, file string, o queueing.Options, out format) error {
	s, err := readSystem(a, file, queueing.Read)
	if s != nil {
		err = errors.Join(err, o.Check(s))
	}
	if err != nil {
		return err
	}
	all := simulation[queueing.Report]{runs: len(o.Policies) * o.Replications,
		run: func(ctx context.Context, progress func(done, of int)) (*queueing.Report, error) {
			o.Progress = progress
			return queueing.Run(ctx, s, o)
		},
		done: func(r *queueing.Report) (done int) {
			for _, x := range r.Results {
				done += x.Replications
			}
			return done
		},
		table: func(w *tabwriter.Writer, r *queueing.Report) { queueTable(w, s, r) }}
	return all.do(ctx, a, out)
}

func queueTable(w io.Writer, s *queueing.System, r *queueing.Report) {
	fmt.Fprintf(w, "%s: %d classes, %d machines, lambda* %.4g (load %.1f %%)\n\n", orDash(s.Name), len(s.Classes),
		s.Size(),
		float64(r.Lambda), 100/float64(r.Lambda))
	head := []any{"POLICY", "DECIDES", "W", "Q"}
	for _, c := range s.Classes {
		head = append(head, "W "+c)
	}
	row(w, append(head, "MESSAGES", "ALL", "LITTLE", "TASKS")...)
	for _, x := range r.Results {
		cells := []any{x.Policy, x.Decides}
		if !x.Stable {
			cells = append(cells, "unstable", "unstable")
			for range x.ByClass {
				cells = append(cells, "-")
			}
			row(w, append(cells, "-", "-", "-", x.Tasks)...)
			continue
		}
		cells = append(cells, spread(x.W), spread(x.Q))
		for _, c := range x.ByClass {
			cells = append(cells, spread(c.Estimate))
		}
		little := orNone("%+.2f %%", 100*float64(x.Little))
		if !x.LittleHolds {
			little += " run longer"
		}
		row(w, append(cells, orNone("%.3f", float64(x.Messages.Remote)), orNone("%.3f", float64(x.Messages.All)), little,
			x.Tasks)...)
	}
	for _, x := range r.Results {
		if x.Limit <= 1 {
			fmt.Fprintf(w, "\n%s: has a load of %.1f %% of what it can carry\n", x.Policy, 100/float64(x.Limit))
		}
	}
}

// orNone formats a number, or a dash if there is none.
func orNone(format string, x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf(format, x)
}

// spread formats a mean and its half-width to the significant digits.
func spread(e queueing.Estimate) string {
	mean, half := float64(e.Mean), float64(e.Half)
	if math.IsNaN(mean) {
		return "-"
	}
	if math.IsNaN(half) || half == 0 {
		return fmt.Sprintf("%.4g", mean)
	}
	digits := max(0, 1-int(math.Floor(math.Log10(half))))
	return fmt.Sprintf("%.*f ± %.*f", digits, mean, digits, half)
}
