package mapping

import (
	"testing"

	"skep/grid"
)

// A job waits since the last event at which a task of it was offered that is not refused.
func TestUrgency(t *testing.T) {
	for _, c := range []struct {
		name             string
		offered, refused []grid.Time
		want             grid.Time
	}{
		{"nothing is offered", nil, nil, 5},
		{"an offer", []grid.Time{20}, nil, 20},
		{"two", []grid.Time{20, 30}, nil, 30},
		{"the first is refused", []grid.Time{20}, []grid.Time{20}, 5},
		{"the second is", []grid.Time{20, 30}, []grid.Time{30}, 20},
		{"the first is, later", []grid.Time{20, 30}, []grid.Time{20}, 30},
		{"both", []grid.Time{20, 30}, []grid.Time{30, 30}, 20},
		{"one of an event", []grid.Time{20, 30, 30}, []grid.Time{30}, 30},
		{"all of an event", []grid.Time{20, 30, 30}, []grid.Time{30, 30}, 20},
		{"one that was offered otherwise", []grid.Time{20}, []grid.Time{25, 0}, 20},
	} {
		var u Urgency
		for _, at := range c.offered {
			u.Offered(at)
		}
		for _, at := range c.refused {
			u.Refused(at)
		}
		if got := u.Since(5); got != c.want {
			t.Errorf("%s: waits since %d, want %d", c.name, got, c.want)
		}
	}
	var u Urgency
	u.Offered(20)
	u.Refused(20)
	u.Offered(30)
	u.Refused(30)
	if got := u.Since(-5); got != -5 {
		t.Errorf("after two refusals it waits since %d, want -5, when it came", got)
	}
}
