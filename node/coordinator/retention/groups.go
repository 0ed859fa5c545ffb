package retention

import (
	"time"

	"skep/grid"
)

// Groups are the jobs of a node in two groups, each with the bounds for itself: those that were submitted here, and
// those that are kept for other nodes. So nobody makes a node let go of its own jobs by having it keep others.
type Groups struct {
	Gone Gone
	self grid.NodeID
	by   [2]Jobs
}

const (
	own = iota
	others
)

// NewGroups returns those of a node, which keeps jobs for grace after their ends in any case.
func NewGroups(self grid.NodeID, c Config, grace time.Duration) Groups {
	return Groups{self: self, by: [...]Jobs{New(c, grace), New(c, grace)}}
}

// Of returns the group of a job.
func (g *Groups) Of(id grid.JobID) *Jobs {
	if id.Origin == g.self {
		return &g.by[own]
	}
	return &g.by[others]
}

// All returns the groups.
func (g *Groups) All() []Jobs { return g.by[:] }

// Start says that the node starts to run. Jobs of an earlier run follow.
func (g *Groups) Start(now grid.Time) {
	for i := range g.by {
		g.by[i].start = now
	}
}

// Woke says that the timer has fired.
func (g *Groups) Woke(now grid.Time) {
	for i := range g.by {
		g.by[i].woke(now)
	}
}

// Needs reports whether a job that goes on here waits for the end of another one, or uses what that left: one that was
// submitted here, or one that is kept for others, who may claim what they want.
func (g *Groups) Needs(id grid.JobID) (byOwn, byOthers bool) {
	return g.by[own].needs(id), g.by[others].needs(id)
}

// Counts counts what is kept, if any bound is set, and what has gone.
func (g *Groups) Counts() Counts {
	return Counts{Jobs: g.by[own].Len() + g.by[others].Len(), Bytes: g.by[own].Bytes() + g.by[others].Bytes(),
		Gone: g.Gone.count}
}
