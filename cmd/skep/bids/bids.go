package bids

import (
	"fmt"

	"github.com/spf13/pflag"

	"skep/document"
	"skep/grid"
	v1 "skep/node/api/v1"
)

// Flags are the flags of run that say how urgent a job is, and what is done for it to end well.
type Flags struct{ priority, deadline, budget, reliability string }

// Add adds the flags.
func (f *Flags) Add(fl *pflag.FlagSet) {
	fl.StringVar(&f.priority, "priority", "",
		"bid for each second of the reference machine: where work waits the highest goes first (default 1)")
	fl.StringVar(&f.deadline, "deadline", "", "until when results are wanted, from the submission, as in 2h; with 2h,6h "+
		"their worth falls in between. What has not ended then ends with 122")
	fl.StringVar(&f.budget, "budget", "", "node-seconds that all attempts of the job may run together, as in 5000. What "+
		"has not ended when they are used up ends with 123")
	fl.StringVar(&f.reliability, "reliability", "", "whether copies of --idempotent tasks run on idle nodes, for runs "+
		"that may be lost: auto (where a copy saves more than it takes), value, value_per_cost, value_per_time, or replicate")
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
	if f.reliability != "" {
		if err := parseReliability(f.reliability, s); err != nil {
			problems = append(problems, fmt.Errorf("--reliability %w", err))
		}
	}
	return problems
}

// Field reads a key of a job file into a spec, if it is one of those that the flags stand for.
func Field(f *document.Reader, e document.Entry, s *v1.Spec) bool {
	switch e.Key {
	case "priority":
		f.Value(e, func(t string) (err error) { s.Priority, err = Parse(t); return })
	case "deadline":
		s.Deadline = ReadDeadline(f, e)
	case "budget":
		s.Budget = ReadBudget(f, e)
	case "reliability":
		f.Value(e, func(t string) error { return parseReliability(t, s) })
	default:
		return false
	}
	return true
}

// parseReliability reads the reliability of a job file or a flag into a spec.
func parseReliability(text string, s *v1.Spec) error {
	s.Reliability = text
	_, err := grid.ParseReliability(text)
	return err
}

// Parse parses the bid of a job file or a flag.
func Parse(text string) (*float64, error) {
	b, err := grid.ParseBid(text)
	x := b.Number()
	return &x, err
}
