package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"skep/cmd/skep/plots"
	"skep/cmd/skep/progress"
	"skep/sim/net"
	"skep/sim/net/factors"
)

const simScreenLong = `Find out which keys of a scenario matter, with few runs: each factor is a key with a low and a
high value, and a design of Plackett and Burman, folded over, has 8 runs for up to 3 of them, 16 for up to 7, 40 for up
to 19. EFFECT is the figure where the factor is high less that where it is low, with its 95 % interval over the
replications; RANK is by its size. What two factors do together does not disturb it; what three do, and a peak between
low and high, is not seen.

A key has dots; an item of a list is named by its place, from 0, or by what its name or class is:
gossip.neighbours=4..12, policy=mct..lpas_dec, nodes.slow.count=4..12, workload.0.rate=2..5.`

func (a *app) simScreenCmd() *cobra.Command {
	var out format
	var texts []string
	var folder string
	var replications int
	var seed uint64
	s := &factors.Study{By: net.Figures[0]}
	cmd := &cobra.Command{Use: "screen FILE", Short: "Find out which keys of a scenario matter", Long: simScreenLong,
		Example: "  skep sim screen lab.yaml --factors gossip.neighbours=4..12,gossip.view=4..32,policy=mct..lpas_dec",
		Args:    oneArg("the file of a scenario"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(texts) == 0 {
				return errors.New("factors: none given: want one or more, as in --factors gossip.neighbours=4..12")
			}
			if !slices.Contains(net.Figures, s.By) {
				return fmt.Errorf("by %.80q: want one of %s", s.By, strings.Join(net.Figures, ", "))
			}
			for _, text := range texts {
				f, err := factors.Parse(text)
				if err != nil {
					return err
				}
				if slices.ContainsFunc(s.Factors, func(x factors.Factor) bool { return x.Key == f.Key }) {
					return fmt.Errorf("factor %s: is named twice: want each once", f.Key)
				}
				s.Factors = append(s.Factors, f)
			}
			if s.File, err = a.readFile(args[0]); err != nil {
				return err
			}
			s.Name, s.Read = args[0], relativeTo(args[0])
			s.Change = func(x *net.Scenario) {
				override(cmd, "seed", &x.Seed, seed)
				override(cmd, "replications", &x.Replications, replications)
			}
			return a.screen(cmd.Context(), s, folder, out)
		}}
	fl := cmd.Flags()
	fl.StringSliceVar(&texts, "factors", nil, "keys and their values, as in gossip.neighbours=4..12")
	fl.StringVar(&s.By, "by", s.By, "figure that factors have an effect on: "+strings.Join(net.Figures, " or "))
	fl.Uint64Var(&seed, "seed", 1, "seed of all chance; replication r runs under seed + r (default the file's)")
	fl.IntVar(&replications, "replications", 1, "how many runs of each combination (default the file's)")
	fl.StringVar(&folder, "plot", "", "folder for a plot of the effects, as SVG and PNG; made if it is not there")
	cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(net.Figures, cobra.ShellCompDirectiveNoFileComp))
	outputFlag(cmd, &out)
	return cmd
}

// screen runs a study of factors and prints what they do.
func (a *app) screen(ctx context.Context, s *factors.Study, folder string, out format) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	line := a.display()
	s.Progress = func(done, of int) {
		line.Show(progress.State{Done: float64(done), Total: float64(of), Text: fmt.Sprintf("%d of %d runs", done, of)})
	}
	r, err := s.Run(ctx)
	line.Close()
	switch {
	case errors.Is(err, context.Canceled):
		return &exitError{code: 130, err: errors.New("interrupted: an effect needs all runs")}
	case err != nil:
		return err
	}
	if err := out.print(a.out, r, func(w *tabwriter.Writer) { screenTable(w, r) }); err != nil || folder == "" {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return plots.Screen(folder, r)
}

func screenTable(w *tabwriter.Writer, r *factors.Report) {
	fmt.Fprintf(w, "%s: %d factors, %d runs, %d replications from seed %d, by %s\n\n", r.Scenario, len(r.Effects),
		len(r.Runs), r.Replications, r.Seed, r.By)
	row(w, "FACTOR", "LOW", "HIGH", "EFFECT s", "OF THE MEAN %", "RANK")
	for _, e := range r.Effects {
		row(w, e.Key, e.Low, e.High, est(e.Effect), fmt.Sprintf("%.1f", 100*e.Share), e.Rank)
	}
}
