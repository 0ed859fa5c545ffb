package p2p

import (
	"slices"
	"sync"

	"skep/grid"
)

// maxKin bounds the jobs whose members are remembered; the oldest go first.
const maxKin = 50_000

// kin remembers the members of the registers of jobs that this node has had to do with, as a member or as a worker: they
// may speak about each other's attempts. It outlives the job's records, so what comes late from an honest peer is not foreign. Where somebody
// named other members than the origin did, both lists count here: what each of them may say the node decides.
type kin struct {
	mu      sync.RWMutex
	members map[grid.JobID][]grid.NodeID
	order   []grid.JobID // oldest first, from next on
	next    int
}

// note takes the members out of a record that is on disk.
func (k *kin) note(r *grid.Record) {
	switch {
	case r.Delete:
	case r.Kind == grid.RecRegister:
		k.add(r.Register.ID, r.Register.Members)
	case r.Kind == grid.RecWork && len(r.Work.Members) > 0:
		k.add(r.Work.ID.Task.Job, r.Work.Members)
	}
}

func (k *kin) add(id grid.JobID, members []grid.NodeID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, known := k.members[id]; known {
		if !slices.Equal(old[:min(len(members), len(old))], members) {
			k.members[id] = slices.Concat(members, old[:min(len(old), grid.MaxMembers)])
		}
		return
	}
	if k.members == nil {
		k.members = make(map[grid.JobID][]grid.NodeID)
	}
	k.members[id] = slices.Clone(members)
	if len(k.order) < maxKin {
		k.order = append(k.order, id)
		return
	}
	delete(k.members, k.order[k.next])
	k.order[k.next] = id
	k.next = (k.next + 1) % maxKin
}

// has reports whether a node is known to be a member of a job's register.
func (k *kin) has(id grid.JobID, who grid.NodeID) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return slices.Contains(k.members[id], who)
}
