package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"skep/cmd/skep/progress"
	"skep/internal/cputime"
	"skep/sim"
)

// swarmReport is the output of `skep sim swarm`.
type swarmReport struct {
	First  uint64         `json:"first_seed"`
	Worlds int            `json:"worlds"` // that were run
	Steps  uint64         `json:"steps"`
	Tasks  int            `json:"tasks"`
	Hours  float64        `json:"node_hours"`                // simulated
	Pace   float64        `json:"node_hours_per_cpu_minute"` // of this process
	Failed []swarmFailure `json:"failed"`
}

type swarmFailure struct {
	Seed   uint64 `json:"seed"`
	What   string `json:"what"`
	Repeat string `json:"repeat"`
}

func (a *app) simSwarmCmd() *cobra.Command {
	var out format
	var seed uint64
	var seeds int
	var steps bool
	cmd := &cobra.Command{Use: "swarm",
		Short: "Run random small grids in which everything goes wrong, and check every step",
		Long: "Draws a grid, a workload and faults from each seed, runs it on the real node and checks at every step what " +
			"must never be,\n" +
			"and after the faults that all has ended. A failure prints the one command that repeats it.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if seeds < 1 {
				return fmt.Errorf("--seeds %d: want 1 or more", seeds)
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			var log func(string)
			if steps {
				log = func(line string) { fmt.Fprintln(a.err, line) }
			}
			r := a.swarm(ctx, seed, seeds, log)
			err := out.print(a.out, r, func(w *tabwriter.Writer) {
				row(w, "FIRST SEED", "WORLDS", "STEPS", "TASKS", "NODE-HOURS", "PER CPU MINUTE", "FAILED")
				row(w, r.First, r.Worlds, r.Steps, r.Tasks, fmt.Sprintf("%.1f", r.Hours), fmt.Sprintf("%.0f", r.Pace),
					len(r.Failed))
			})
			switch {
			case err != nil:
				return err
			case len(r.Failed) > 0:
				return fmt.Errorf("%d of %d worlds failed; the first again with: %s --steps", len(r.Failed), r.Worlds,
					r.Failed[0].Repeat)
			case ctx.Err() != nil:
				return &exitError{code: 130, err: fmt.Errorf("interrupted after %d of %d worlds", r.Worlds, seeds)}
			}
			return nil
		}}
	outputFlag(cmd, &out)
	cmd.Flags().Uint64Var(&seed, "seed", 1, "first seed")
	cmd.Flags().IntVar(&seeds, "seeds", 200, "how many worlds, each with the seed after the one before")
	cmd.Flags().BoolVar(&steps, "steps", false, "print every step of every node on the error stream")
	return cmd
}

// swarm runs the worlds and prints each failure when it is found.
func (a *app) swarm(ctx context.Context, first uint64, worlds int, log func(string)) *swarmReport {
	r := &swarmReport{First: first, Failed: []swarmFailure{}}
	line := a.display()
	defer line.Close()
	errs := line.Writer(a.err)
	before := cputime.Used()
	sim.RunSwarm(first, worlds, log, func(seed uint64, of sim.Report, err error) bool {
		r.Worlds++
		r.Steps += of.Steps
		r.Tasks += of.Tasks
		r.Hours += of.Nodes.Hours()
		if err != nil {
			fmt.Fprintln(errs, err)
			r.Failed = append(r.Failed, swarmFailure{Seed: seed, What: err.Error(), Repeat: sim.Swarm(seed).Repeat})
		}
		line.Show(progress.State{Done: float64(r.Worlds), Total: float64(worlds),
			Text: fmt.Sprintf("%d of %d worlds, %d failed", r.Worlds, worlds, len(r.Failed))})
		return ctx.Err() == nil
	})
	r.Pace = r.Hours / max(cputime.Used()-before, time.Millisecond).Minutes()
	return r
}
