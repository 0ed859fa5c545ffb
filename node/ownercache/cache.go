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
	arrival   uint64     // place in the order of arrival
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
	entries []*cachedOwner // in no order
	last    uint64         // arrivals so far
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
	c.last++
	entry := &cachedOwner{id: id, arrival: c.last, claimants: []Claimant{x}}
	all, own := -1, -1 // places of the oldest of all, and of this claimant
	count := 0
	for at, e := range c.entries {
		if all < 0 || e.arrival < c.entries[all].arrival {
			all = at
		}
		if e.claimants[0].Node == x.Node {
			if count++; own < 0 || e.arrival < c.entries[own].arrival {
				own = at
			}
		}
	}
	c.by.Put(entry)
	switch {
	case count >= maxCachedByOne:
		c.replace(own, entry)
	case len(c.entries) >= maxCachedOwners:
		c.replace(all, entry)
	default:
		c.entries = append(c.entries, entry)
	}
}

func (c *Cache) replace(at int, entry *cachedOwner) {
	c.by.Drop(c.entries[at].id)
	c.entries[at] = entry
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

// Jobs iterates over the jobs that somebody announced to have taken over, in no order of meaning but always the same.
func (c *Cache) Jobs() iter.Seq[grid.JobID] {
	return func(yield func(grid.JobID) bool) {
		for _, x := range c.entries {
			if !yield(x.id) {
				return
			}
		}
	}
}
