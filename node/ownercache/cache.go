package ownercache

import (
	"iter"
	"slices"

	"skep/grid"
	"skep/sparse"
)

// cachedOwner lists the nodes that announced to have taken over a job with which this node has nothing to do. It serves
// clients that ask this node about the job.
type cachedOwner struct {
	id        grid.JobID
	claimants []Claimant // newest epoch first
}

// Claimant is a node that announced to have taken a job over.
type Claimant struct {
	Node  grid.NodeID
	Epoch uint32
	Since int64 // wall time, Unix nanoseconds
}

// Key returns the job.
func (c *cachedOwner) Key() grid.JobID { return c.id }

// Cache holds the newest announced takeovers. Any member can announce, so each is the newest claimant of a bounded
// number of jobs: one cannot evict what others announced.
type Cache struct {
	entries []*cachedOwner // oldest arrival first
	by      sparse.Map[grid.JobID, *cachedOwner]
}

const (
	maxCachedOwners = 4096
	maxCachedByOne  = 1024 // jobs with the same newest claimant
	maxClaimants    = 4    // of one job
)

// Add records a takeover. An announcement proves nothing: clients ask the claimant only after the job's origin, and
// older claimants after it.
func (c *Cache) Add(id grid.JobID, x Claimant) {
	if old := c.by.Get(id); old != nil {
		old.add(x)
		return
	}
	oldest, count := 0, 0 // of this claimant
	for at, e := range c.entries {
		if e.claimants[0].Node == x.Node {
			if count++; count == 1 {
				oldest = at
			}
		}
	}
	if count < maxCachedByOne {
		oldest = 0
	}
	if count >= maxCachedByOne || len(c.entries) >= maxCachedOwners {
		c.by.Drop(c.entries[oldest].id)
		c.entries = slices.Delete(c.entries, oldest, oldest+1)
	}
	entry := &cachedOwner{id: id, claimants: []Claimant{x}}
	c.by.Put(entry)
	c.entries = append(c.entries, entry)
}

// add records a claimant's newest epoch; claimants of the oldest epochs are dropped.
func (c *cachedOwner) add(x Claimant) {
	if i := slices.IndexFunc(c.claimants, func(o Claimant) bool { return o.Node == x.Node }); i >= 0 {
		if c.claimants[i].Epoch >= x.Epoch {
			return
		}
		c.claimants = slices.Delete(c.claimants, i, i+1)
	}
	at := slices.IndexFunc(c.claimants, func(o Claimant) bool { return o.Epoch < x.Epoch })
	if at < 0 {
		at = len(c.claimants)
	}
	c.claimants = slices.Insert(c.claimants, at, x)
	c.claimants = c.claimants[:min(len(c.claimants), maxClaimants)]
}

// Claimants lists the nodes that announced to have taken a job over, newest epoch first; read only.
func (c *Cache) Claimants(id grid.JobID) []Claimant {
	if x := c.by.Get(id); x != nil {
		return x.claimants
	}
	return nil
}

// Jobs iterates over the jobs that somebody announced to have taken over, in the order of the first announcements.
func (c *Cache) Jobs() iter.Seq[grid.JobID] {
	return func(yield func(grid.JobID) bool) {
		for _, x := range c.entries {
			if !yield(x.id) {
				return
			}
		}
	}
}
