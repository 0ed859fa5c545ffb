package node

import (
	"slices"

	"skep/grid"
)

// fellow is another member of registers that this node is a member of. Who they are never changes for a register, so that an owner's
// watch costs what it has in common with this node, and not all that this node keeps.
type fellow struct {
	node grid.NodeID
	jobs []*job // of Node.guards those with that member, in the same order
}

func (f *fellow) key() grid.NodeID { return f.node }

// with lists the jobs whose registers this node and another are members of, until their end; read only.
func (n *Node) with(id grid.NodeID) []*job {
	if f := n.fellows.get(id); f != nil {
		return f.jobs
	}
	return nil
}

// guardWith takes a job into those whose registers this node looks after.
func (n *Node) guardWith(j *job) {
	n.guards = append(n.guards, j)
	for _, id := range j.guard.reg.Members() {
		if id == n.cfg.Self {
			continue
		}
		f := n.fellows.get(id)
		if f == nil {
			f = &fellow{node: id}
			n.fellows.put(f)
		}
		f.jobs = append(f.jobs, j)
	}
}

// tendAll looks after every register, and lets go of those of which nothing is left to look after.
func (n *Node) tendAll(now grid.Time, fx *grid.Effects) {
	before := len(n.guards)
	n.guards = slices.DeleteFunc(n.guards, func(j *job) bool {
		j.guard.left = !n.tend(now, j, fx)
		return j.guard.left
	})
	if len(n.guards) == before {
		return
	}
	var alone []grid.NodeID
	for f := range n.fellows.all() {
		if f.jobs = slices.DeleteFunc(f.jobs, func(j *job) bool { return j.guard.left }); len(f.jobs) == 0 {
			alone = append(alone, f.node)
		}
	}
	for _, id := range alone {
		n.fellows.drop(id)
	}
}
