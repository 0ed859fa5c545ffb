package runner

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/grid"
	"skep/node/p2p/clock"
)

// A task for which the node has no processes to give waits for the end of others, as long as it is wanted and may still
// start.
func TestTaskWaitsForRoom(t *testing.T) {
	r, _ := openRunner(t)
	defer func(d time.Duration) { roomEvery = d }(roomEvery)
	roomEvery = time.Millisecond
	full, broken, p := fmt.Errorf("start: %w", sandbox.ErrNoRoom), errors.New("broken"), new(process.Process)
	for _, c := range []struct {
		name  string
		errs  []error // of one try after the other; the last goes on
		until grid.Time
		gone  bool
		p     task
		err   error
	}{
		{name: "there is room", errs: []error{nil}, p: p},
		{name: "there is room later", errs: []error{full, full, nil}, p: p},
		{name: "it cannot be started", errs: []error{full, broken}, err: broken},
		{name: "its owner's word runs out", errs: []error{full}, until: clock.Now().Add(50 * time.Millisecond)},
		{name: "nobody wants it any more", errs: []error{full}, gone: true},
	} {
		tries := 0
		got, err := r.begin(&attempt{dropped: c.gone}, c.until, func() (task, error) {
			err := c.errs[min(tries, len(c.errs)-1)]
			if tries++; err != nil {
				return nil, err
			}
			return p, nil
		})
		if got != c.p || err != c.err || tries < len(c.errs) {
			t.Errorf("%s: %v, %v after %d tries", c.name, got, err, tries)
		}
	}
}
