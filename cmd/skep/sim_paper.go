package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"skep/sim/paper"
)

const simPaperLong = `Repeat published studies with the simulator, and say for each printed number whether ours agrees: inside its
interval, within what is allowed, or a departure, with the reason where there is one. Numbers that cannot be right in
print are reported and not judged.`

func (a *app) simPaperCmd() *cobra.Command {
	c := parent("paper", "Repeat published tables", a.simPaperListCmd(), a.simPaperRunCmd())
	c.Long = simPaperLong
	return c
}

func (a *app) simPaperListCmd() *cobra.Command {
	var out format
	cmd := &cobra.Command{Use: "list", Short: "List the studies", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			type study struct {
				Name    string `json:"name"`
				Title   string `json:"title"`
				Numbers int    `json:"numbers"`
				Source  string `json:"source"`
			}
			var all []study
			for _, name := range paper.Names() {
				s, err := paper.Load(name)
				if err != nil {
					return err
				}
				all = append(all, study{s.Name, s.Title, s.Numbers(), s.Source})
			}
			return out.print(a.out, all, func(w *tabwriter.Writer) {
				row(w, "NAME", "NUMBERS", "WHAT", "SOURCE")
				for _, s := range all {
					row(w, s.Name, s.Numbers, s.Title, s.Source)
				}
			})
		}}
	outputFlag(cmd, &out)
	return cmd
}

func (a *app) simPaperRunCmd() *cobra.Command {
	var out format
	var quick bool
	var only []string
	o := paper.Options{Seed: 1}
	cmd := &cobra.Command{Use: "run [NAME...]", Short: "Run studies, all by default, and compare with print",
		Long: simPaperLong +
			"\n\nThe quick form takes about a minute for all. The full form has the run lengths and " +
			"replications of the source." +
			"\nThe exit code is 1 where a number departs and the study does not name it.",
		Example: "  skep sim paper run lpas-grid\n  skep sim paper run lpas-grid --full --output json\n  skep " +
			"sim paper run dissemination --full --only growth",
		ValidArgsFunction: cobra.FixedCompletions(paper.Names(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, names []string) error {
			if len(names) == 0 {
				names = paper.Names()
			}
			o.Full = o.Full || !quick
			return a.simPaper(cmd.Context(), names, only, o, out)
		}}
	f := cmd.Flags()
	f.BoolVar(&o.Full, "full", false, "the lengths of the source, in minutes to hours")
	f.BoolVar(&quick, "quick", true, "short runs")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "of all chance")
	f.StringSliceVar(&only, "only", nil, "run nothing but these systems or scenarios of a study: growth, growth@1000")
	cmd.MarkFlagsMutuallyExclusive("full", "quick")
	outputFlag(cmd, &out)
	return cmd
}

// simPaper runs studies one after the other. When interrupted it prints the results so far.
func (a *app) simPaper(ctx context.Context, names, only []string, o paper.Options, out format) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	var studies []*paper.Study
	for _, name := range names {
		s, err := paper.Load(name)
		if err != nil {
			return err
		}
		if len(only) > 0 {
			if err := s.Only(only...); err != nil {
				return err
			}
		}
		studies = append(studies, s)
	}
	var reports []*paper.Report
	var departed []string
	for _, s := range studies {
		if isTerminal(a.err) {
			o.Progress = func(part float64) { fmt.Fprintf(a.err, "\r%s: %.0f %%", s.Name, 100*part) }
		}
		r, err := s.Run(ctx, o)
		if isTerminal(a.err) {
			fmt.Fprint(a.err, "\r\x1b[K")
		}
		if r == nil {
			return err
		}
		reports = append(reports, r)
		if n := r.Unnamed(); n > 0 {
			departed = append(departed, fmt.Sprintf("%d in %s", n, s.Name))
		}
		if out.isTable() {
			if len(reports) > 1 {
				fmt.Fprintln(a.out)
			}
			if err := r.Print(a.out); err != nil {
				return err
			}
		}
		if err != nil {
			break
		}
	}
	if !out.isTable() {
		if err := out.print(a.out, reports, nil); err != nil {
			return err
		}
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &exitError{130, errors.New("interrupted: what was not run says so")}
	case len(departed) > 0:
		return fmt.Errorf("numbers that depart from print and that the study does not name: %s", strings.Join(departed, ", "))
	}
	return nil
}
