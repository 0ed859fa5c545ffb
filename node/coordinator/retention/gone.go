package retention

import "skep/grid"

// mostGone bounds the jobs that are remembered after they have gone: half a MiB of memory, and their names.
const mostGone = 4096

// Gone are the newest of the jobs that have gone in this run of the node. Its zero value is empty.
type Gone struct {
	ring  []goneJob // the oldest is replaced once it is full
	next  int
	count [reasons]uint64
}

type goneJob struct {
	id   grid.JobID
	name string
	why  Why
}

// Note takes note that a job has gone.
func (g *Gone) Note(id grid.JobID, name string, why Why) {
	g.count[why]++
	if x := (goneJob{id, name, why}); len(g.ring) < mostGone {
		g.ring = append(grid.Room(g.ring, 8), x)
	} else {
		g.ring[g.next] = x
		g.next = (g.next + 1) % mostGone
	}
}

// Find returns the newest that fits, and why it has gone; Kept if there is none.
func (g *Gone) Find(fits func(id grid.JobID, name string) bool) (grid.JobID, Why) {
	for k := len(g.ring); k > 0; k-- {
		if x := &g.ring[(g.next+k-1)%len(g.ring)]; fits(x.id, x.name) {
			return x.id, x.why
		}
	}
	return grid.JobID{}, Kept
}

// Counts are what is kept and what has gone.
type Counts struct {
	Jobs  int             // that are over
	Bytes grid.Bytes      // of the files that only they hold, those of each group; 0 where nothing is bounded
	Gone  [reasons]uint64 // since the start, by Why
}
