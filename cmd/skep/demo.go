package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"skep/testnet/demo"
)

// demoLimit bounds a demonstration.
const demoLimit = 3 * time.Minute

func (a *app) demoCmd() *cobra.Command {
	var o demo.Options
	cmd := &cobra.Command{Use: "demo", Short: "Show five nodes sharing sixty tasks on this machine", Args: noArgs,
		Long: "Start five nodes of different speed and fitness on this machine, submit sixty small programs to " +
			"random ones,\n" +
			"show where each goes, and compare with running each where it was submitted. Leaves nothing behind.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), demoLimit)
			defer cancel()
			ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
			defer stop()
			if o.Tasks < 1 || o.Tasks > 1000 {
				return fmt.Errorf("--tasks %d: want 1 to 1000", o.Tasks)
			}
			err := a.demo(ctx, o)
			if err != nil && ctx.Err() != nil && cmd.Context().Err() == nil {
				return &exitError{128 + 2, fmt.Errorf("demo: interrupted, or took longer than %v; everything is cleaned up",
					demoLimit)}
			}
			return err
		}}
	cmd.Flags().IntVar(&o.Tasks, "tasks", demo.DefaultTasks, "how many; for tests")
	_ = cmd.Flags().MarkHidden("tasks")
	cmd.Flags().Uint64Var(&o.Seed, "seed", 1, "of the arrivals")
	return cmd
}

func (a *app) demo(ctx context.Context, o demo.Options) error {
	level, err := tryIsolation()
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, level.line)
	o.NoBoxes = level.none
	if o.Binary, err = os.Executable(); err != nil {
		return err
	}
	return demo.Run(ctx, a.out, o)
}

// demoTaskCmd is the program of the demonstration's tasks.
func (a *app) demoTaskCmd() *cobra.Command {
	return &cobra.Command{Use: "demo-task primes|matrix|hash N", Short: "Compute something that can be checked",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			n, _ := strconv.Atoi(args[1]) // 0, which is refused, if it is no number
			result, err := demo.Work(args[0], n)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.out, result)
			return err
		}}
}
