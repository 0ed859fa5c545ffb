package node

import (
	"slices"

	"skep/grid"
)

// sharedJobs lists the jobs whose registers this node and another are both members of. A register's members never
// change, so an owner's keepalive costs time in proportion to the shared jobs, not to all replicas here.
type sharedJobs struct {
	peer grid.NodeID
	jobs []*job // the jobs of Node.replicas with that member, in the same order
}

func (f *sharedJobs) key() grid.NodeID { return f.peer }

// jobsWith lists the jobs that are not closed whose registers both this node and another are members of; read only.
func (n *Node) jobsWith(id grid.NodeID) []*job {
	if f := n.sharedWith.get(id); f != nil {
		return f.jobs
	}
	return nil
}

// trackReplica adds a job to the replicas that tickReplicas checks.
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

// tickReplicas checks every replica, and removes those with nothing left to do.
func (n *Node) tickReplicas(now grid.Time, fx *grid.Effects) {
	before := len(n.replicas)
	n.replicas = slices.DeleteFunc(n.replicas, func(j *job) bool {
		j.replica.retired = !n.tickReplica(now, j, fx)
		return j.replica.retired
	})
	if len(n.replicas) == before {
		return
	}
	var empty []grid.NodeID
	for f := range n.sharedWith.all() {
		if f.jobs = slices.DeleteFunc(f.jobs, func(j *job) bool { return j.replica.retired }); len(f.jobs) == 0 {
			empty = append(empty, f.peer)
		}
	}
	for _, id := range empty {
		n.sharedWith.drop(id)
	}
}
