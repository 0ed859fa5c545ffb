package slurm

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Options say which cluster tasks run on, and how. Zero values are usable but for Dir, Data and Node.
type Options struct {
	// Dir is the absolute path of a folder that the compute nodes see at the same path. What this node needs is in a
	// folder of its own in it.
	Dir string

	// Data is the absolute path of the node's data folder, which has the ID of what is in Dir.
	Data string

	// Node tells the jobs of this node from those of others of the same user: letters and digits.
	Node string

	// Partition is where jobs go. Default: the cluster's default partition.
	Partition string

	// Account is what jobs are charged to. Default: that of the user.
	Account string

	// Extra are further options of sbatch, as in qos=low or exclusive, of those in extraOptions.
	Extra []string

	// Step is the command of a step, which calls RunStep with the two arguments that follow. Default: a copy of this
	// program in Dir, with StepCommand.
	Step []string

	// Poll is the time between two looks at the queue while something changes; while nothing does it grows to
	// maxPoll. Default 1 s. Lower finds ends sooner and burdens the controller.
	Poll time.Duration

	// Settle is how long the end of a task is waited for whose job is gone: file systems show new files late. Default
	// 30 s. Lower takes a slow file system for a lost task; higher delays the news of those that are.
	Settle time.Duration

	// Health is the time between two looks at whether the partition takes jobs; while it does not, a third of that.
	// Default 15 s. Lower closes the node sooner when the controller does not answer, and burdens the controller.
	Health time.Duration

	// Away is called when the partition takes no jobs any more, since the controller does not answer or no host is up,
	// and when it takes some again. Nil = nobody is told.
	Away func(away bool)

	// Log takes messages for the operator. Default: discarded.
	Log *slog.Logger
}

// StepCommand is the argument with which this program runs a step.
const StepCommand = "slurm-step"

const (
	maxPoll  = 5 * time.Second
	maxRetry = 30 * time.Second // between two looks while the controller does not answer
)

// extraOptions are the options of sbatch that an operator may add: none of them changes what this package rests on.
var extraOptions = []string{"constraint", "core-spec", "exclude", "exclusive", "gpus", "gres",
	"hint", "licenses", "mail-type", "mail-user", "nice", "nodelist", "oversubscribe", "prefer", "priority", "qos",
	"reservation", "threads-per-core", "tmp", "wckey"}

// Check reports what is wrong with o, but for Dir, Data and Node.
func (o *Options) Check() error {
	var errs []error
	for _, x := range [...]struct{ what, text string }{{"partition", o.Partition}, {"account", o.Account}} {
		if len(x.text) > 200 || strings.ContainsFunc(x.text, func(r rune) bool { return r <= ' ' || r == '|' || r == ',' }) {
			errs = append(errs, fmt.Errorf("%s %.80q: want one name", x.what, x.text))
		}
	}
	for _, x := range o.Extra {
		key, _, _ := strings.Cut(x, "=")
		if !slices.Contains(extraOptions, key) || strings.ContainsAny(x, "\n\x00") {
			errs = append(errs, fmt.Errorf("slurm option %.80q: want OPTION or OPTION=VALUE of sbatch, of: %s", x,
				strings.Join(extraOptions, ", ")))
		}
	}
	return errors.Join(errs...)
}

// defaults sets the defaults and checks o.
func (o *Options) defaults() error {
	if o.Poll == 0 {
		o.Poll = time.Second
	}
	if o.Settle == 0 {
		o.Settle = 30 * time.Second
	}
	if o.Health == 0 {
		o.Health = 15 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	// a backslash or a percent sign in the name of an output file means something to sbatch
	if !filepath.IsAbs(o.Dir) || strings.ContainsAny(o.Dir, "\\%\n") {
		return fmt.Errorf("slurm: folder %q: want an absolute path without backslash and percent sign", o.Dir)
	}
	if !filepath.IsAbs(o.Data) {
		return fmt.Errorf("slurm: data folder %q: want an absolute path", o.Data)
	}
	if o.Node == "" || strings.ContainsFunc(o.Node, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return fmt.Errorf("slurm: node %q: want letters and digits", o.Node)
	}
	if err := o.Check(); err != nil {
		return fmt.Errorf("slurm: %w", err)
	}
	return nil
}
