package transport

import (
	"slices"
	"sync"

	"skep/fifo"
	"skep/grid"
)

// maxCachedMembers bounds the jobs whose members are remembered; the oldest are evicted first.
const maxCachedMembers = 50_000

// Members remembers the members of the registers of jobs that this node has had to do with, as a member or as a
// worker: they may send messages about each other's attempts. It outlives the job's records, so a late message of
// an honest peer is not foreign. Where somebody named other members than the origin did, both lists count here;
// what each of them may do the node decides.
type Members struct {
	mu    sync.RWMutex
	byJob fifo.Map[grid.JobID, []grid.NodeID]
}

// NoteRecord adds the members named by a record that is on disk.
func (k *Members) NoteRecord(r *grid.Record) {
	switch {
	case r.Delete:
	case r.Kind == grid.RecRegister && r.Register.Set == nil:
		k.add(r.Register.ID, r.Register.Members)
	case r.Kind == grid.RecRegister: // who was replaced may send late messages
		if k.isUnknown(r.Register.ID) {
			k.add(r.Register.ID, r.Register.Members)
		}
		members := r.Register.Set.Members
		if x := r.Register.Set.Extra; !x.IsZero() {
			members = append(slices.Clone(members), x)
		}
		k.add(r.Register.ID, members)
	case r.Kind == grid.RecWork && len(r.Work.Members) > 0:
		k.add(r.Work.ID.Task.Job, r.Work.Members)
	}
}

func (k *Members) add(id grid.JobID, members []grid.NodeID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old := k.byJob.Get(id); old != nil {
		if !slices.Equal((*old)[:min(len(members), len(*old))], members) {
			*old = slices.Concat(members, (*old)[:min(len(*old), grid.MaxMembers)])
		}
		return
	}
	if k.byJob.Len() == maxCachedMembers {
		k.byJob.RemoveOldest()
	}
	k.byJob.Add(id, slices.Clone(members))
}

func (k *Members) isUnknown(id grid.JobID) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.byJob.Get(id) == nil
}

// isMember reports whether a node is known to be a member of a job's register.
func (k *Members) isMember(id grid.JobID, who grid.NodeID) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	known := k.byJob.Get(id)
	return known != nil && slices.Contains(*known, who)
}
