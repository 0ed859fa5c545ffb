package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"skep/balance/market/advice"
	"skep/cmd/skep/advise"
	"skep/sim/marketplace"
)

const adviseLong = `Say which policy, order and preemption suit what this grid does, by the guidelines of a thesis on market
protocols.

Speeds, cores and round trips are those that nodes tell now; load, sizes, bursts, bids and deadlines are those of the 50
newest jobs, of each its first 200 tasks. The rows of the guidelines that fit best are shown, with what differs, and
what to write into config.yaml of each node for the best of their protocols. The guidelines are of simulations under
stationary load with a central matcher, which nodes do without, and in which suspending and moving cost nothing.`

// purpose is what tasks are wanted for; it is a flag's value.
type purpose string

// String implements pflag.Value.
func (p *purpose) String() string { return string(*p) }

// Type implements pflag.Value.
func (p *purpose) Type() string { return "string" }

// Set implements pflag.Value.
func (p *purpose) Set(s string) error {
	if *p = purpose(s); advice.PurposeOf(s) == 0 {
		return fmt.Errorf("want one of %s", strings.Join(advice.Purposes(), ", "))
	}
	return nil
}

// purposeFlag adds --for.
func purposeFlag(cmd *cobra.Command, p *purpose) {
	cmd.Flags().Var(p, "for", "what counts: completion (mean time), bids (mean time weighted by them), hard or soft "+
		"(deadlines) (default what bids and deadlines say)")
	cmd.RegisterFlagCompletionFunc("for", cobra.FixedCompletions(advice.Purposes(), cobra.ShellCompDirectiveNoFileComp))
}

// adviseCmd advises for the grid.
func (a *app) adviseCmd() *cobra.Command {
	var out format
	var p purpose
	var since time.Duration
	cmd := &cobra.Command{Use: "advise", Short: "Say which order of work suits what this grid does", Long: adviseLong,
		Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			if since <= 0 {
				return fmt.Errorf("--since %v: want a length of time above 0, as in 24h", since)
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			r, err := advise.Grid(cmd.Context(), c, time.Now(), since, advice.PurposeOf(string(p)))
			if err != nil {
				return err
			}
			return out.print(a.out, r, func(w *tabwriter.Writer) { printAdvice(w, r) })
		}}
	cmd.Flags().DurationVar(&since, "since", 24*time.Hour, "age of the oldest job that counts")
	purposeFlag(cmd, &p)
	outputFlag(cmd, &out)
	return cmd
}

// simAdviseCmd advises for the file of a market.
func (a *app) simAdviseCmd() *cobra.Command {
	var out format
	var p purpose
	cmd := &cobra.Command{Use: "advise FILE", Short: "Say which market protocols suit a simulated market",
		Long: "Say which rows of the guidelines for market protocols fit the file of a market, as skep sim market\n" +
			"reads it, and how to simulate their protocols.",
		Args: oneArg("the file of a market"), RunE: func(_ *cobra.Command, args []string) error {
			s, err := readSystem(a, args[0], marketplace.Read)
			if err != nil {
				return err
			}
			r := advise.Market(s, advice.PurposeOf(string(p)), args[0])
			return out.print(a.out, r, func(w *tabwriter.Writer) { printAdvice(w, r) })
		}}
	purposeFlag(cmd, &p)
	outputFlag(cmd, &out)
	return cmd
}

func printAdvice(w io.Writer, r *advise.Report) {
	row(w, "NUMBER", "VALUE", "IS", "FROM")
	for _, n := range r.Numbers {
		row(w, n.Name, n.Text, orDash(n.Word), orDash(n.From))
	}
	for i := range r.Rows {
		x := &r.Rows[i]
		fmt.Fprintf(w, "\n%s:\n  %s\n", x.Title(), x.RankText())
		fmt.Fprintf(w, "  %s:\n", x.Protocol)
		for _, s := range x.Configure {
			fmt.Fprintf(w, "    %s\n", s)
		}
	}
}
