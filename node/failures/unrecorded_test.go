package failures

import (
	"strings"
	"testing"

	"skep/grid"
)

// What waits for a majority says for what: its end, its failure, or its retry. What is committed waits for nothing.
func TestUnrecorded(t *testing.T) {
	end := &grid.Entry{Attempt: grid.Attempt{Epoch: 1, N: 1}, Result: &grid.Result{Cause: grid.Exited, Exit: 3}}
	for _, c := range []struct {
		e    grid.Entry
		want string
	}{
		{*end, "it has ended"},
		{with(end, func(e *grid.Entry) { e.Again = 5 }), "it failed with 3"},
		{*Retry(end, 1), "it is to be run again"},
	} {
		if why := Unrecorded(&c.e, false); why.Why != grid.WhyMajority || !strings.Contains(why.Detail, c.want) {
			t.Errorf("%+v: %+v, want %q", c.e, why, c.want)
		}
		if why := Unrecorded(&c.e, true); why != (grid.Refusal{}) {
			t.Errorf("%+v is committed: %+v", c.e, why)
		}
	}
}
