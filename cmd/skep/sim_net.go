package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"skep/cmd/skep/plots"
	"skep/cmd/skep/progress"
	"skep/sim/net"
)

func (a *app) simNetCmd() *cobra.Command {
	var out tableFormat
	var seed uint64
	var replications int
	var length, warmup time.Duration
	var policy, rule, forward, folder string
	var versus comparison
	cmd := &cobra.Command{Use: "net FILE", Short: "Run a whole grid of real nodes on a modelled network",
		Long: "Runs the scenario in FILE (YAML; - is the standard input): every simulated machine runs the node that " +
			"`skep up` runs.\n" +
			"The same file and seed give the same digest. An interrupt prints what has been measured so far.",
		Args: oneArg("the file of a scenario"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := versus.check(cmd); err != nil {
				return err
			}
			b, err := a.readFile(args[0])
			if err != nil {
				return err
			}
			s, _, err := net.ParseScenario(args[0], b, relativeTo(args[0]), func(s *net.Scenario) {
				override(cmd, "seed", &s.Seed, seed)
				override(cmd, "replications", &s.Replications, replications)
				override(cmd, "time", &s.Time, length)
				override(cmd, "warmup", &s.Warmup, warmup)
				override(cmd, "policy", &s.Node.Policy, policy)
				override(cmd, "rule", &s.Node.Gossip.Rule, rule)
				override(cmd, "forward", &s.Node.Discovery.Forward, forward)
			})
			if err != nil {
				return err
			}
			if len(s.Obsolete) > 0 {
				fmt.Fprintln(a.err, "skep:", obsoleteWarning(s.Obsolete))
			}
			if versus.policies != nil {
				return a.compare(cmd.Context(), s, &versus, out)
			}
			if folder != "" {
				if err := os.MkdirAll(folder, 0o755); err != nil {
					return err
				}
			}
			r, err := a.simulate(cmd.Context(), s)
			if err != nil {
				return err
			}
			if err := printNet(a.out, out, r); err != nil {
				return err
			}
			if folder != "" {
				if err := plots.Net(folder, r); err != nil {
					return err
				}
			}
			return checkReport(r)
		}}
	out.flag(cmd)
	fl := cmd.Flags()
	fl.Uint64Var(&seed, "seed", 1, "seed of all chance; replication r runs under seed + r (default the file's)")
	fl.IntVar(&replications, "replications", 1, "how many runs (default the file's)")
	fl.DurationVar(&length, "time", 0, "end of arrivals (default the file's)")
	fl.DurationVar(&warmup, "warmup", 0, "what is submitted before is not measured (default the file's)")
	fl.StringVar(&policy, "policy", "", "placement policy (default the file's)")
	fl.StringVar(&rule, "rule", "", "dissemination rule (default the file's)")
	fl.StringVar(&forward, "forward", "", "how searches go from node to node (default the file's)")
	fl.StringVar(&folder, "plot", "", "folder for plots, each as SVG and PNG; made if it is not there")
	versus.flags(cmd)
	return cmd
}

// override sets a flag's value if it was given.
func override[T any](cmd *cobra.Command, name string, dst *T, v T) {
	if cmd.Flags().Changed(name) {
		*dst = v
	}
}

// relativeTo returns a function that reads files named relative to the folder of another file.
func relativeTo(file string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) && file != "-" {
			name = filepath.Join(filepath.Dir(file), name)
		}
		return os.ReadFile(name)
	}
}

// simulate runs a scenario, with progress on a terminal, until its end or an interrupt.
func (a *app) simulate(ctx context.Context, s *net.Scenario) (*net.Report, error) {
	ctx, stop := interruptible(ctx)
	defer stop()
	line := a.display()
	defer line.Close()
	return net.Run(ctx, s, func(p net.Progress) {
		line.Show(progress.State{Done: p.Done, Total: 1, Text: fmt.Sprintf("replication %d of %d, %v of %v",
			p.Replication+1, s.Replications, p.Virtual.Round(time.Second), s.Time)})
	})
}

// checkReport returns the error of a run whose results are incomplete or invalid.
func checkReport(r *net.Report) error {
	switch {
	case r.Lost > 0:
		return fmt.Errorf("%d tasks were lost", r.Lost)
	case !r.Complete:
		return &exitError{code: 130, err: errors.New("interrupted: the figures are of what had run by then")}
	case !r.Stable:
		return errors.New("unstable: the number of tasks in the grid only grew, so that times depend on how long one runs")
	}
	return nil
}

// comparison is what --compare asks for.
type comparison struct {
	policies []string
	by       string
}

func (c *comparison) flags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringSliceVar(&c.policies, "compare", nil,
		"policies to run under the same seeds: how they rank in each replication, and how far each is from the best")
	fl.StringVar(&c.by, "by", net.Figures[0], "figure to compare by, of which less is better: "+
		strings.Join(net.Figures, " or "))
	for _, other := range []string{"policy", "plot"} {
		cmd.MarkFlagsMutuallyExclusive("compare", other)
	}
	cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(net.Figures, cobra.ShellCompDirectiveNoFileComp))
}

// check reports what is asked for and cannot be.
func (c *comparison) check(cmd *cobra.Command) error {
	switch {
	case cmd.Flags().Changed("compare") && len(c.policies) < 2:
		return fmt.Errorf("compare %q: want two policies or more, as in mct,lpas_dec", strings.Join(c.policies, ","))
	case cmd.Flags().Changed("by") && len(c.policies) == 0:
		return errors.New("by: is of --compare: want it too")
	case !slices.Contains(net.Figures, c.by):
		return fmt.Errorf("by %.80q: want one of %s", c.by, strings.Join(net.Figures, ", "))
	}
	return nil
}

// compare runs a scenario under several policies and prints how they did.
func (a *app) compare(ctx context.Context, s *net.Scenario, c *comparison, out tableFormat) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	line := a.display()
	r, err := net.Compare(ctx, s, c.policies, c.by, func(p net.Progress) {
		line.Show(progress.State{Done: p.Done, Total: 1, Text: fmt.Sprintf("%d policies, %d replications", len(c.policies),
			s.Replications)})
	})
	line.Close()
	if err != nil {
		return err
	}
	if err := printComparison(a.out, out, r); err != nil {
		return err
	}
	if !r.Complete {
		return &exitError{code: 130, err: errors.New("interrupted: the figures are of the replications that had ended")}
	}
	return nil
}

// printComparison prints how policies did.
func printComparison(w io.Writer, f tableFormat, r *net.Comparison) error {
	if f == "csv" {
		c := csv.NewWriter(w)
		c.Write([]string{"scenario", "policy", "measure", "mean", "half"})
		for _, p := range r.Policies {
			for _, m := range []struct {
				what string
				net.Estimate
			}{{"rank", p.Rank}, {"degradation_pct", p.Degradation}, {r.By, p.Figure},
				{"above_previous_pct", above(&p)},
				{"best", net.Estimate{Mean: float64(p.Best)}}, {"failed", net.Estimate{Mean: float64(p.Failed)}}} {
				mean := strconv.FormatFloat(m.Mean, 'g', -1, 64)
				if math.IsNaN(m.Mean) {
					mean = ""
				}
				c.Write([]string{r.Scenario, p.Policy, m.what, mean, strconv.FormatFloat(m.Half, 'g', -1, 64)})
			}
		}
		c.Flush()
		return c.Error()
	}
	return format(f).print(w, r, func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "%s: %d policies, %d replications from seed %d, by %s\n\n", r.Scenario, len(r.Policies),
			r.Replications, r.Seed, r.By)
		row(t, "POLICY", "RANK", "FROM THE BEST %", "THAN THE ONE ABOVE %", strings.ToUpper(r.By)+" s", "BEST",
			"FAILED")
		for _, p := range r.Policies {
			row(t, p.Policy, est(p.Rank), est(p.Degradation), est(above(&p)), est(p.Figure), p.Best, p.Failed)
		}
	})
}

// above is by how many percent a policy is above the one before it; of the first, nothing.
func above(p *net.Scored) net.Estimate {
	if p.Above == nil {
		return net.Estimate{Mean: math.NaN()}
	}
	return *p.Above
}
