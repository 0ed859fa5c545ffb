package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"skep/grid"
	"skep/sim/record"
)

// maxRecording bounds a recording, in bytes: some ten million steps.
const maxRecording = 4 << 30

// recorder opens a recording; done closes it. An existing file is not overwritten.
func (a *app) recorder(name string, log *slog.Logger) (rec *record.Recorder, done func(), err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, nil, fmt.Errorf("--record %s: is there already: want the name of a new file", name)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--record: %w", err)
	}
	rec = record.New(f, version, maxRecording, func(err error) {
		log.Warn("recording ended; the node goes on", "file", name, "error", err)
	})
	return rec, func() {
		if err := errors.Join(rec.Flush(), f.Close()); err != nil {
			log.Warn("recording may be cut", "file", name, "error", err)
		}
	}, nil
}

// replayReport is the output of `skep sim replay`.
type replayReport struct {
	File       string       `json:"file"`
	Version    string       `json:"version"`
	Node       string       `json:"node"`
	Restored   int          `json:"restored_records"`
	Steps      int          `json:"steps"`
	Seconds    float64      `json:"seconds"`
	Cut        bool         `json:"cut"`
	Same       bool         `json:"same"`
	Difference *replayBreak `json:"difference,omitempty"`
}

type replayBreak struct {
	Step     int    `json:"step"`
	Event    string `json:"event"`
	Recorded string `json:"recorded"`
	Replayed string `json:"replayed"`
}

func (a *app) simReplayCmd() *cobra.Command {
	var out format
	var steps bool
	cmd := &cobra.Command{Use: "replay FILE", Short: "Run a recorded node again, step for step, to the first difference",
		Long: "Feeds a new node what `skep up --record FILE` wrote down, and compares what it does at each step with " +
			"what the\n" +
			"recorded node did. Exits with 1 at a difference.",
		Args: oneArg("a file that skep up --record wrote"),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return fmt.Errorf("file %q: %w: want one that skep up --record wrote", args[0], withoutPath(err))
			}
			defer f.Close()
			r, err := record.Run(io.LimitReader(f, maxRecording+2*record.MaxFrame), a.steps(steps))
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			v := replayReport{File: args[0], Version: r.Header.Version, Node: r.Header.Config.Self.String(),
				Restored: r.Restored,
				Steps:    r.Steps, Seconds: r.Lasted.Seconds(), Cut: r.Cut, Same: r.Difference == nil}
			if d := r.Difference; d != nil {
				v.Difference = &replayBreak{d.Step, d.Event, d.Recorded, d.Replayed}
			}
			if err := out.print(a.out, v, func(w *tabwriter.Writer) { tableReplay(w, &v) }); err != nil {
				return err
			}
			if !v.Same {
				return &exitError{code: 1, err: fmt.Errorf("step %d differs", v.Difference.Step)}
			}
			return nil
		}}
	outputFlag(cmd, &out)
	cmd.Flags().BoolVar(&steps, "steps", false, "print every step on the error stream")
	return cmd
}

// steps returns a function that prints each step, or nil.
func (a *app) steps(on bool) func(n int, now grid.Time, event, effects string) {
	if !on {
		return nil
	}
	return func(n int, now grid.Time, event, effects string) {
		fmt.Fprintln(a.err, sanitizeLine(fmt.Sprintf("%d %v %s | %s", n, time.Duration(now), event, effects)))
	}
}

func tableReplay(w *tabwriter.Writer, v *replayReport) {
	fmt.Fprintf(w, "node\t%s\nrecorded by\tskep %s\nrestored\t%s records\nreplayed\t%s steps, %s of the node's time\n",
		v.Node, orDash(v.Version),
		humanize.Comma(int64(v.Restored)), humanize.Comma(int64(v.Steps)), age(time.Duration(v.Seconds*1e9)))
	if v.Cut {
		fmt.Fprintln(w, "end\tcut off in the middle of a frame; what is before it was replayed")
	}
	if d := v.Difference; d != nil {
		fmt.Fprintf(w, "differs\tat step %d\nevent\t%s\nrecorded\t%s\nreplayed\t%s\n", d.Step, d.Event, d.Recorded,
			d.Replayed)
		return
	}
	fmt.Fprintln(w, "result\tthe same at every step")
}
