package testnet

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// Nodes that die for good one after the other, and new ones that join in between, until next to none of the first are
// left: so the records of jobs have to move.

// Successions is what a run of such deaths found.
type Successions struct {
	Deaths int `json:"deaths"` // for good, folder and all
	Joined int `json:"joined"`
	Moved  int `json:"jobs_moved"` // jobs of which a node that keeps their record was replaced, as far as that was seen
	Once   int `json:"once"`       // tasks that run at most once
	// of these, without an exit of their own: their node died
	OnceGone int `json:"once_ended_as_lost"`
	// jobs whose end was told and read in time, and that nobody knows any more who is left
	Forgotten int `json:"forgotten"`
}

func (s *Successions) print(w io.Writer) {
	if s == nil {
		return
	}
	fmt.Fprintf(w, "  %d nodes died for good and %d joined; of %d jobs nodes that keep the record were replaced; %d jobs "+
		"that were over were forgotten with those that kept them\n", s.Deaths, s.Joined, s.Moved, s.Forgotten)
	fmt.Fprintf(w, "  %d tasks run at most once, of which %d ended as lost with their node\n", s.Once, s.OnceGone)
}

// successions draws the deaths: the last of the first nodes stays. The node that joins does so between two deaths.
func successions(r *rand.Rand, nodes []string, c *ChaosConfig) (faults []Fault) {
	first := len(nodes) - c.Deaths
	for k, i := range r.Perm(first)[:c.Deaths] {
		at := c.Every/2 + time.Duration(k)*c.Every
		faults = append(faults, Fault{At: at, Kind: FaultKill, Nodes: nodes[i : i+1]},
			Fault{At: at + time.Duration((0.1+0.8*r.Float64())*float64(c.Every)), Kind: FaultJoin,
				Nodes: nodes[first+k : first+k+1]})
	}
	return faults
}

// newcomers are the nodes that are not there at first.
func (c *ChaosConfig) newcomers(nodes []string) []string { return nodes[len(nodes)-c.Deaths:] }

// join starts a new node.
func (x *chaos) join(ctx context.Context, n *Node) error {
	if err := x.t.Start(ctx, n); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.gone, n.Name)
	return nil
}

// joined is how many new nodes are there.
func (x *chaos) joined() (n int) {
	var names []string
	for i := range x.t.state.Nodes {
		names = append(names, x.t.state.Nodes[i].Name)
	}
	for _, name := range x.c.newcomers(names) {
		if !x.isGone(name) {
			n++
		}
	}
	return n
}

// outlives has a job take longer than nodes are apart that die, and reports whether its tasks run at most once; else
// they may run twice at once.
func (x *chaos) outlives(s *v1.Spec, r *rand.Rand) (once bool) {
	s.MaxRunning = 2
	if once = r.IntN(2) == 0; once {
		*s.Retries = 0
	} else {
		s.Idempotent = true
	}
	return once
}

// runsOnce notes that a job's tasks run at most once.
func (h *history) runsOnce(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.jobs[id].once = true
}

// collect reads, as soon as a job is over, what its tasks printed: all who keep it may be gone later.
func (x *chaos) collect(ctx context.Context, id string) {
	x.h.mu.Lock()
	j := *x.h.jobs[id]
	x.h.mu.Unlock()
	if !j.over {
		return
	}
	said := map[uint32]string{}
	if !j.asked {
		missing := 0
		if said, missing, _ = x.readOutputs(ctx, &j); missing > 0 {
			return // the audit asks again
		}
	}
	x.h.mu.Lock()
	defer x.h.mu.Unlock()
	x.h.jobs[id].said = said
}

// auditOnce judges a task that runs at most once, and reports whether nothing is left to say: it has ended as lost,
// which is right if its node died, but never when it has begun more than once.
func (x *chaos) auditOnce(r *Report, j *jobHistory, i uint32, runs []*run, rec recorded, ok bool) (done bool) {
	r.Successions.Once++
	if len(runs) > 1 {
		x.h.twice++
		x.h.violate("job %s task %d: runs at most once, and has begun %d times", short(j.id), i, len(runs))
	}
	if ok && rec.cause == grid.Lost.String() {
		r.Successions.OnceGone++
		return true
	}
	return false
}
