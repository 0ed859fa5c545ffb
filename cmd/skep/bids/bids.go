package bids

import (
	"fmt"

	"github.com/spf13/pflag"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// Flags are the flags of run that say how urgent a job is.
type Flags struct{ priority, deadline, budget string }

// Add adds the flags.
func (f *Flags) Add(fl *pflag.FlagSet) {
	fl.StringVar(&f.priority, "priority", "",
		"bid for each second of the reference machine: where work waits the highest goes first (default 1)")
	fl.StringVar(&f.deadline, "deadline", "", "until when results are wanted, from the submission, as in 2h; with 2h,6h "+
		"their worth falls in between. What has not ended then ends with 122")
	fl.StringVar(&f.budget, "budget", "", "node-seconds that all attempts of the job may run together, as in 5000. What "+
		"has not ended when they are used up ends with 123")
}

// Apply writes the flags into a spec, and returns what is wrong with them.
func (f *Flags) Apply(s *v1.Spec) (problems []error) {
	if f.priority != "" {
		var err error
		if s.Priority, err = Parse(f.priority); err != nil {
			problems = append(problems, fmt.Errorf("--priority %w", err))
		}
	}
	if f.deadline != "" {
		var err error
		if s.Deadline, err = parseDeadline(f.deadline); err != nil {
			problems = append(problems, fmt.Errorf("--deadline %w", err))
		}
	}
	if f.budget != "" {
		var err error
		if s.Budget, err = parseBudget(f.budget); err != nil {
			problems = append(problems, fmt.Errorf("--budget %w", err))
		}
	}
	return problems
}

// Parse parses the bid of a job file or a flag.
func Parse(text string) (*float64, error) {
	b, err := grid.ParseBid(text)
	x := b.Number()
	return &x, err
}
