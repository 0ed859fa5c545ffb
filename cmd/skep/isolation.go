package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"skep/exec/sandbox"
	"skep/exec/slurm"
	"skep/grid"
	"skep/testnet"
)

// isolationCmd is run by testnets inside the containers of their nodes.
func (a *app) isolationCmd() *cobra.Command {
	var out format
	cmd := &cobra.Command{Use: "isolation", Short: "Say which level of isolation tasks would have here", Args: noArgs,
		Hidden: true,
		Long:   "Try boxes as a node does at its start, and say which level they have and what is missing for a higher one.",
		RunE: func(*cobra.Command, []string) error {
			level, findings, err := sandbox.Try("")
			if err != nil {
				return fmt.Errorf("isolation: %w", err)
			}
			r := testnet.Isolation{Level: level.String()}
			for _, f := range findings {
				r.Findings = append(r.Findings, f.String())
			}
			return out.print(a.out, r, func(w *tabwriter.Writer) {
				fmt.Fprintln(w, r.Level)
				for _, f := range r.Findings {
					fmt.Fprintln(w, f)
				}
			})
		}}
	outputFlag(cmd, &out)
	return cmd
}

// slurmStepCmd is run by batch jobs of nodes whose tasks run in Slurm.
func (a *app) slurmStepCmd() *cobra.Command {
	return &cobra.Command{Use: slurm.StepCommand + " DIR SUBMISSION", Short: "Run a task as a batch job of Slurm",
		Args: cobra.ExactArgs(2), Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			code, err := slurm.RunStep(args[0], args[1])
			if code == 0 {
				return err
			}
			return &exitError{code: code, err: err}
		}}
}

// isolationLevel is the isolation of tasks on this machine.
type isolationLevel struct {
	line string // for people
	none bool   // there are no boxes: nodes need --isolation none
}

// tryIsolation finds out the level of isolation on this machine.
func tryIsolation() (isolationLevel, error) {
	level, findings, err := sandbox.Try("")
	switch {
	case err != nil:
		return isolationLevel{}, fmt.Errorf("find the isolation of tasks: %w", err)
	case level == grid.IsolationNone:
		return isolationLevel{"Isolation of tasks: none, so the nodes run with --isolation none: " +
			sandbox.Explain(findings) + ".", true}, nil
	}
	return isolationLevel{line: fmt.Sprintf("Isolation of tasks: %v.", level)}, nil
}
