package node

import "skep/grid"

// A job under access: owner goes only to nodes that show it to nobody but who shows its capability: they say so when they connect
// (grid.FeatureAccess). Others keep no record of it and run none of its tasks.

// discreetly says of a job under access: owner which others would have done.
func (n *Node) discreetly(j *JobView) string {
	if j.Spec.Access() == grid.AccessOwner && len(n.eligible(true)) < len(n.eligible(false)) {
		return " that show it to nobody but its owner, as older versions do not"
	}
	return ""
}

// Tells reports whether a node that is connected would show a job to those who may not see it.
func (n *Node) Tells(id grid.NodeID, spec *grid.JobSpec) bool {
	q := n.peers.get(id)
	return spec.Access() == grid.AccessOwner && q != nil && !q.discreet
}
