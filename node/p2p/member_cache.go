package p2p

import (
	"slices"
	"sync"

	"skep/grid"
)

// maxCachedMembers bounds the jobs whose members are remembered; the oldest are evicted first.
const maxCachedMembers = 50_000

// memberCache remembers the members of the registers of jobs that this node has had to do with, as a member or as a
// worker: they may send messages about each other's attempts. It outlives the job's records, so a late message of
// an honest peer is not foreign. Where somebody named other members than the origin did, both lists count here;
// what each of them may do the node decides.
type memberCache struct {
	mu     sync.RWMutex
	byJob  map[grid.JobID][]grid.NodeID
	order  []grid.JobID // a ring, oldest first from index oldest
	oldest int
}

// noteRecord adds the members named by a record that is on disk.
func (k *memberCache) noteRecord(r *grid.Record) {
	switch {
	case r.Delete:
	case r.Kind == grid.RecRegister:
		k.add(r.Register.ID, r.Register.Members)
	case r.Kind == grid.RecWork && len(r.Work.Members) > 0:
		k.add(r.Work.ID.Task.Job, r.Work.Members)
	}
}

func (k *memberCache) add(id grid.JobID, members []grid.NodeID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, known := k.byJob[id]; known {
		if !slices.Equal(old[:min(len(members), len(old))], members) {
			k.byJob[id] = slices.Concat(members, old[:min(len(old), grid.MaxMembers)])
		}
		return
	}
	if k.byJob == nil {
		k.byJob = make(map[grid.JobID][]grid.NodeID)
	}
	k.byJob[id] = slices.Clone(members)
	if len(k.order) < maxCachedMembers {
		k.order = append(k.order, id)
		return
	}
	delete(k.byJob, k.order[k.oldest])
	k.order[k.oldest] = id
	k.oldest = (k.oldest + 1) % maxCachedMembers
}

// isMember reports whether a node is known to be a member of a job's register.
func (k *memberCache) isMember(id grid.JobID, who grid.NodeID) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return slices.Contains(k.byJob[id], who)
}
