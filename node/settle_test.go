package node

import (
	"testing"
	"time"

	"skep/grid"
)

// A restarted node runs nothing of the jobs that it alone keeps before those that it knows had time to tell whether its
// data folder was put back: ten seconds for the first of them, a second more for the others. What is submitted since
// the start it cannot have run before.
func TestSoleJobsWaitForPeersAfterARestart(t *testing.T) {
	a, b := grid.NodeID{1}, grid.NodeID{2}
	for _, c := range []struct {
		name  string
		known int
		join  map[time.Duration]grid.NodeID
		want  time.Duration
	}{
		{"it knows nobody", 0, nil, 0},
		{"nobody is reached", 2, nil, 10 * time.Second},
		{"one has told", 2, map[time.Duration]grid.NodeID{2 * time.Second: a}, 3 * time.Second},
		{"all have told", 2, map[time.Duration]grid.NodeID{time.Second: a, 2 * time.Second: b}, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(n *Config) { n.Known = c.known })
			r.submit(jobID(1), spec(func(s *grid.JobSpec) { s.Count = 2 }))
			r = r.restart()
			began := r.now
			started := func() bool {
				return len(r.fx.Starts) > 0
			}
			for end := began.Add(20 * time.Second); !started() && r.now < end; {
				next := end
				for at := range c.join {
					if x := began.Add(at); x > r.now && x < next {
						next = x
					}
				}
				if before := r.now; next > before {
					r.pass(next.Sub(before))
				}
				if id, due := c.join[r.now.Sub(began)]; due && !started() {
					delete(c.join, r.now.Sub(began))
					r.join(id, 1, "plan9")
				}
			}
			if got := r.now.Sub(began); !started() || got != c.want {
				t.Errorf("a task starts (%v) after %v, want %v", started(), got, c.want)
			}
		})
	}
	r := newRig(t, func(n *Config) { n.Known = 2 })
	r = r.restart()
	r.submit(jobID(2), spec(nil))
	if len(r.fx.Starts) != 1 {
		t.Errorf("%d starts of a new job: want one at once", len(r.fx.Starts))
	}
}

// The same holds of a job that was over before the restart and of which a caller has tasks run again since: what it
// knows of their attempts may be old. One that ended since the start, and is run again, waits no longer than that.
func TestRetriesOfSoleJobsWaitForPeersAfterARestart(t *testing.T) {
	for _, s := range []*grid.JobSpec{spec(nil), spec(func(s *grid.JobSpec) { s.Rules.MaxFailures = 2 })} {
		r := newRig(t, func(n *Config) { n.Known = 2 })
		r.submit(jobID(1), s)
		r.end(jobID(1), 0, exitOne)
		r = r.restart()
		began := r.now
		if why := r.ask(grid.EvRetry, jobID(1), 0); why != "" {
			t.Fatal(why)
		}
		for len(r.fx.Starts) == 0 && r.now < began.Add(20*time.Second) {
			r.pass(time.Second)
		}
		if got := r.now.Sub(began); len(r.fx.Starts) != 1 || got < 10*time.Second || got > 11*time.Second {
			t.Errorf("%d tasks start after %v, want one after 10 s", len(r.fx.Starts), got)
		}
	}
}
