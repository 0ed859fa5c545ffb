package node

import (
	"slices"

	"skep/grid"
)

// sharedJobs is another member of registers that this node is a member of. Who they are never changes for a register, so that an owner's
// watch costs what it has in common with this node, and not all that this node keeps.
type sharedJobs struct {
	peer grid.NodeID
	jobs []*job // of Node.guards those with that member, in the same order
}

func (f *sharedJobs) key() grid.NodeID { return f.peer }

// jobsWith lists the jobs whose registers this node and another are members of, until their end; read only.
func (n *Node) jobsWith(id grid.NodeID) []*job {
	if f := n.sharedWith.get(id); f != nil {
		return f.jobs
	}
	return nil
}

// trackReplica takes a job into those whose registers this node looks after.
func (n *Node) trackReplica(j *job) {
	n.replicas = append(n.replicas, j)
	for _, id := range j.replica.reg.Members() {
		if id == n.cfg.Self {
			continue
		}
		f := n.sharedWith.get(id)
		if f == nil {
			f = &sharedJobs{peer: id}
			n.sharedWith.put(f)
		}
		f.jobs = append(f.jobs, j)
	}
}

// tickReplicas looks after every register, and lets go of those of which nothing is left to look after.
func (n *Node) tickReplicas(now grid.Time, fx *grid.Effects) {
	before := len(n.replicas)
	n.replicas = slices.DeleteFunc(n.replicas, func(j *job) bool {
		j.replica.retired = !n.tickReplica(now, j, fx)
		return j.replica.retired
	})
	if len(n.replicas) == before {
		return
	}
	var alone []grid.NodeID
	for f := range n.sharedWith.all() {
		if f.jobs = slices.DeleteFunc(f.jobs, func(j *job) bool { return j.replica.retired }); len(f.jobs) == 0 {
			alone = append(alone, f.peer)
		}
	}
	for _, id := range alone {
		n.sharedWith.drop(id)
	}
}
