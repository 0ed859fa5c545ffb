package demo

import (
	"context"
	"fmt"
	"io"
	"time"
)

// DefaultTasks is the number of tasks of a demonstration that is not told another. Together they take less than one
// core
// for as long as they arrive, so that two cores show the waiting for unfit nodes, not for the machine.
const DefaultTasks = 60

const (
	span = 11 * time.Second       // in which DefaultTasks arrive
	work = 100 * time.Millisecond // CPU time of a task on a core of average speed
)

// Options are how a demonstration is made.
type Options struct {
	Seed    uint64 // of the arrivals
	Tasks   int    // 1 or more
	Binary  string // path of skep: the nodes run it, and the tasks, as `demo-task CLASS UNITS` (see Work)
	NoBoxes bool   // tasks have no boxes on this machine: the nodes run with --isolation none
}

// Run runs a demonstration and prints it to w. When ctx ends it cleans up and returns an error.
func Run(ctx context.Context, w io.Writer, o Options) error {
	fmt.Fprintf(w,
		"Five nodes on this machine, each with one core's worth of slots and a pace of its own for each class of task.\n")
	began := time.Now()
	nodes, err := start(ctx, &o)
	defer func() { nodes.stop() }()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nAll five are ready and know each other after %.1f s.\n", time.Since(began).Seconds())
	nodes.print(w)
	fmt.Fprintf(w, "\nWeighing the programs …\n")
	tasks := draw(o.Seed, o.Tasks, len(nodes.list))
	if err := nodes.upload(ctx, o.Binary); err != nil {
		return err
	}
	left := spare(measured)
	fmt.Fprintf(w, "\n%d tasks, each to a random node, at random moments within about %v (seed %d).\n"+
		"First each runs where it was submitted, matrix without its need, which only two nodes meet;\n"+
		"the nodes learn from it how long each class takes them …\n", o.Tasks, span*time.Duration(o.Tasks)/DefaultTasks,
		o.Seed)
	alone, err := nodes.runAll(ctx, nil, tasks, "local")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Mean completion time %s.\n\nNow the same tasks at the same moments, placed by the grid:\n\n",
		ms(alone.mean("")))
	spread, err := nodes.runAll(ctx, w, tasks, "")
	if err != nil {
		return err
	}
	spread.table(w, nodes)
	spread.compare(w, alone)
	fmt.Fprint(w, busyNote(min(left, spare(measured))))
	fmt.Fprintf(w, "\nDone after %.1f s; every result was checked.\n", time.Since(began).Seconds())
	return nil
}
