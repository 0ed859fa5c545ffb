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

func (s *sharedJobs) key() grid.NodeID { return s.peer }

// jobsWith lists the jobs that are not closed whose registers both this node and another are members of; read only.
func (n *Node) jobsWith(id grid.NodeID) []*job {
	if s := n.sharedWith.get(id); s != nil {
		return s.jobs
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
		s := n.sharedWith.get(id)
		if s == nil {
			s = &sharedJobs{peer: id}
			n.sharedWith.put(s)
		}
		s.jobs = append(s.jobs, j)
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
	for s := range n.sharedWith.all() {
		if s.jobs = slices.DeleteFunc(s.jobs, func(j *job) bool { return j.replica.retired }); len(s.jobs) == 0 {
			empty = append(empty, s.peer)
		}
	}
	for _, id := range empty {
		n.sharedWith.drop(id)
	}
}
