//go:build unix

package process

import (
	"testing"
	"time"
)

// All that a task printed is kept, also where this node is so late that the time for the last of it is over.
func TestLateNodeKeepsTheLastOutput(t *testing.T) {
	defer func(was time.Duration) { drained = was }(drained)
	drained = 0
	inTurn(t, func(t *testing.T, r *Runner) {
		s := spec(t, r, `until [ -e go ]; do sleep 0.01; done; head -c 64000 /dev/zero`) // as much as a pipe holds
		s.MaxOutput = 1 << 20
		p := start(t, r, s)
		out := &p.out[Stdout]
		out.mu.Lock()
		put(t, r, s, "go", "", 0o644)
		for ended := false; !ended; time.Sleep(time.Millisecond) {
			p.beside.mu.Lock()
			ended = p.beside.g == nil
			p.beside.mu.Unlock()
		}
		time.Sleep(20 * time.Millisecond) // the node stops waiting meanwhile, and most is still in the pipe
		out.mu.Unlock()
		if wait(t, p); out.size != 64_000 {
			t.Errorf("kept %d bytes of 64000", out.size)
		}
	})
}
