package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"skep/grid"
)

// Parameters of the demonstration. All its tasks together take less than one core for as long as they arrive, so that
// two cores show the waiting for unfit nodes, not for the machine.
const (
	demoTasks = 60
	demoSpan  = 11 * time.Second       // in which they arrive
	demoWork  = 100 * time.Millisecond // CPU time of a task on a core of average speed
	demoLimit = 3 * time.Minute        // for everything
)

func (a *app) demoCmd() *cobra.Command {
	var seed uint64
	tasks := demoTasks
	cmd := &cobra.Command{Use: "demo", Short: "Show five nodes sharing sixty tasks on this machine", Args: noArgs,
		Long: "Start five nodes of different speed and fitness on this machine, submit sixty small programs to random ones,\n" +
			"show where each goes, and compare with running each where it was submitted. Leaves nothing behind.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), demoLimit)
			defer cancel()
			ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
			defer stop()
			if tasks < 1 || tasks > 1000 {
				return fmt.Errorf("--tasks %d: want 1 to 1000", tasks)
			}
			err := a.demo(ctx, seed, tasks)
			if err != nil && ctx.Err() != nil && cmd.Context().Err() == nil {
				return &exitError{128 + 2, fmt.Errorf("demo: interrupted, or took longer than %v; everything is cleaned up", demoLimit)}
			}
			return err
		}}
	cmd.Flags().IntVar(&tasks, "tasks", demoTasks, "how many; for tests")
	_ = cmd.Flags().MarkHidden("tasks")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "of the arrivals")
	return cmd
}

func (a *app) demo(ctx context.Context, seed uint64, tasks int) error {
	level, err := tryIsolation()
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, level.line)
	fmt.Fprintf(a.out, "Five nodes on this machine, each with one core's worth of slots and a pace of its own for each class of task.\n")
	began := time.Now()
	nodes, err := startDemo(ctx, level)
	defer func() { nodes.stop() }()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "\nAll five are ready and know each other after %.1f s.\n", time.Since(began).Seconds())
	nodes.printNodes(a.out)
	fmt.Fprintf(a.out, "\nWeighing the programs …\n")
	load := newDemoLoad(seed, tasks, len(nodes.list))
	if err := nodes.uploadProgram(ctx); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "\n%d tasks, each to a random node, at random moments within about %v (seed %d).\n"+
		"First each runs where it was submitted, matrix without its need, which only two nodes meet;\n"+
		"the nodes learn from it how long each class takes them …\n", len(load.tasks), demoSpan*time.Duration(tasks)/demoTasks, seed)
	alone, err := nodes.runAll(ctx, nil, load, "local")
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "Mean completion time %s.\n\nNow the same tasks at the same moments, placed by the grid:\n\n", ms(alone.mean("")))
	spread, err := nodes.runAll(ctx, a.out, load, "")
	if err != nil {
		return err
	}
	spread.table(a.out, nodes)
	spread.compare(a.out, alone)
	fmt.Fprintf(a.out, "\nDone after %.1f s; every result was checked.\n", time.Since(began).Seconds())
	return nil
}

// demoNeed returns the label that one class needs and only some nodes have; not in the run where tasks stay at their
// origin, since they could not run elsewhere.
func demoNeed(class, policy string) map[string][]string {
	if class == "matrix" && policy == "" {
		return map[string][]string{"accel": {"yes"}}
	}
	return nil
}

// demoCores is what each task needs: all cores of a node, so that tasks queue.
const demoCores = float64(grid.CPU) / 1000
