package instance

import (
	"testing"
	"time"

	"skep/grid"
)

// An instance that proves nothing for a minute is told of, once in ten minutes; one that is busy for a moment is not.
func TestInstanceThatProvesNothingIsToldOf(t *testing.T) {
	u, n, at := newUnproven(), grid.NodeID{1}, time.Unix(1000, 0)
	told := func(seconds int) (times int) {
		for range seconds / 10 {
			at = at.Add(10 * time.Second)
			if u.lasts(n, at) {
				times++
			}
		}
		return times
	}
	if k := told(60); k != 0 {
		t.Errorf("told of %d times within the first minute", k)
	}
	u.end(n)
	if k := told(60); k != 0 {
		t.Errorf("told of %d times within a minute after it has answered", k)
	}
	if k := told(300); k != 1 {
		t.Errorf("told of %d times in the 5 minutes after, want once", k)
	}
	if k := told(900); k != 1 && k != 2 {
		t.Errorf("told of %d times in 15 minutes more", k)
	}
	at = at.Add(time.Hour)
	if u.lasts(n, at) {
		t.Error("told of after an hour in which nobody asked")
	}
}
