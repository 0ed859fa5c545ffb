package v1

import (
	"fmt"

	"skep/grid"
)

// Deadline is until when the results of a job are wanted.
type Deadline struct {
	At        float64 `json:"at_seconds" doc:"From the submission, 1 or more: until then a result is worth all."`
	Worthless float64 `json:"worthless_seconds,omitempty" doc:"From the submission, more than at_seconds: the worth of a result falls in between, and what has not ended by then ends as missed; without it at at_seconds."`
}

// apply writes the deadline into a spec; nil is none.
func (d *Deadline) apply(g *grid.JobSpec) error {
	switch {
	case d == nil:
		return nil
	case !(d.At >= 1):
		return fmt.Errorf("deadline.at_seconds %v: want 1 or more, or no deadline", d.At)
	case d.Worthless != 0 && !(d.Worthless > d.At):
		return fmt.Errorf("deadline.worthless_seconds %v: want more than at_seconds, %v; leave it out if a later result is "+
			"worth nothing", d.Worthless, d.At)
	}
	g.Rules.Deadline = grid.Deadline{At: seconds(d.At), Worthless: seconds(d.Worthless)}
	return nil
}

func deadlineOf(d grid.Deadline) *Deadline {
	if !d.Some() {
		return nil
	}
	return &Deadline{At: d.At.Seconds(), Worthless: d.Worthless.Seconds()}
}
