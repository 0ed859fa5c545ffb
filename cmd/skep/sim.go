package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"skep/cmd/skep/progress"
)

func (a *app) simCmd() *cobra.Command {
	return parent("sim", "Simulate systems and grids",
		a.simQueueCmd(), a.simMarketCmd(), a.simAdviseCmd(), a.simNetCmd(), a.simPaperCmd(), a.simSwarmCmd(),
		a.simReplayCmd(), a.simScreenCmd())
}

// interruptible ends ctx at an interrupt, so that partial results can be printed. A second one ends the program.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// simulation is a study of many runs, and how its report is printed.
type simulation[R any] struct {
	runs  int
	run   func(ctx context.Context, progress func(done, of int)) (*R, error)
	done  func(*R) int // runs that are in the report
	table func(*tabwriter.Writer, *R)
}

// do does the runs, with a bar. When interrupted it prints the results of the finished ones.
func (s *simulation[R]) do(ctx context.Context, a *app, out format) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	line := a.display()
	r, err := s.run(ctx, func(done, of int) {
		line.Show(progress.State{Done: float64(done), Total: float64(of), Text: fmt.Sprintf("%d of %d runs", done, of)})
	})
	line.Close()
	if r == nil {
		return err
	}
	if perr := out.print(a.out, r, func(w *tabwriter.Writer) { s.table(w, r) }); perr != nil {
		return perr
	}
	if errors.Is(err, context.Canceled) {
		return &exitError{130, fmt.Errorf("interrupted: these are %d of %d runs", s.done(r), s.runs)}
	}
	return err
}

// readSystem reads the file of a system, which errors name stdin where it is the standard input.
func readSystem[S any](a *app, file string, read func(name string, b []byte) (*S, error)) (*S, error) {
	b, err := a.readFile(file)
	if err != nil {
		return nil, err
	}
	if file == "-" {
		file = "stdin"
	}
	return read(file, b)
}
