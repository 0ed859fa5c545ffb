package v1

import (
	"math"
	"strings"
	"testing"
	"time"

	"skep/grid"
)

func TestDeadlinesGoThroughASpec(t *testing.T) {
	for _, d := range []*Deadline{nil, {At: 1}, {At: 1.5}, {At: 7200, Worthless: 21600}} {
		g, err := (&Spec{Command: []string{"true"}, Rules: Rules{Deadline: d}}).Grid()
		if err != nil {
			t.Fatal(err)
		}
		if got := SpecOf(g).Deadline; (got == nil) != (d == nil) || d != nil && *got != *d {
			t.Errorf("%+v comes back as %+v", d, got)
		}
		soft := grid.Deadline{At: 2 * time.Hour, Worthless: 6 * time.Hour}
		if d != nil && d.At == 7200 && g.Rules.Deadline != soft {
			t.Errorf("%+v is read as %+v", d, g.Rules.Deadline)
		}
	}
}

// A deadline that would be rounded to none, or to a hard one, is refused; JobSpec.Check refuses one that is too late.
func TestDeadlinesThatAreNone(t *testing.T) {
	for _, x := range []struct {
		d    Deadline
		want string
	}{
		{Deadline{}, "deadline.at_seconds 0: want 1 or more"},
		{Deadline{At: -3}, "deadline.at_seconds -3: want 1 or more"},
		{Deadline{At: 1e-12}, "deadline.at_seconds 1e-12: want"},
		{Deadline{At: math.NaN()}, "deadline.at_seconds NaN: want"},
		{Deadline{At: 5, Worthless: 5}, "deadline.worthless_seconds 5: want more than at_seconds, 5"},
		{Deadline{At: 5, Worthless: 1e-12}, "deadline.worthless_seconds 1e-12: want"},
		{Deadline{At: 5, Worthless: -1}, "deadline.worthless_seconds -1: want"},
		{Deadline{At: 1e12}, "deadline "},
		{Deadline{At: 5, Worthless: 1e300}, "deadline.worthless "},
	} {
		g, err := (&Spec{Command: []string{"true"}, Rules: Rules{Deadline: &x.d}}).Grid()
		if err == nil {
			err = g.Check()
		}
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v, want %q", x.d, err, x.want)
		}
	}
}
