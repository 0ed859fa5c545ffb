package retention

import (
	"skep/fifo"
	"skep/grid"
)

// mostGone bounds the jobs that are remembered after they have gone: half a MiB of memory.
const mostGone = 4096

// Gone are the jobs of this run that were forgotten since the node has bounds, the newest of them by their IDs. Its
// zero value is empty.
type Gone struct {
	by    fifo.Map[grid.JobID, Why]
	count [reasons]uint64
}

// Note takes note that a job has gone.
func (g *Gone) Note(id grid.JobID, why Why) {
	g.count[why]++
	if x := g.by.Get(id); x != nil { // it came back as another member had it
		*x = why
		return
	}
	if g.by.Len() == mostGone {
		g.by.RemoveOldest()
	}
	g.by.Add(id, why)
}

// Why returns why a job has gone; Kept if nothing is known of that.
func (g *Gone) Why(id grid.JobID) Why {
	if x := g.by.Get(id); x != nil {
		return *x
	}
	return Kept
}

// Counts returns how many jobs have gone since the start, by Why.
func (g *Gone) Counts() [reasons]uint64 { return g.count }

// Counts are what is kept and what has gone.
type Counts struct {
	Jobs  int             // that are over
	Bytes grid.Bytes      // of the files that only they hold; 0 where nothing is bounded
	Gone  [reasons]uint64 // since the start, by Why
}
