package node

import "skep/grid"

// A job under access: owner goes only to nodes that show it to nobody but who shows its capability: they say so when they connect
// (grid.FeatureAccess). Others keep no record of it and run none of its tasks.

// accessHint says of a job under access: owner which others would have done.
func (n *Node) accessHint(j *JobView) string {
	if j.Spec.Access() == grid.AccessOwner && len(n.memberCandidates(true)) < len(n.memberCandidates(false)) {
		return " that show it to nobody but its owner, as older versions do not"
	}
	return ""
}

// WouldExpose reports whether a node that is connected would show a job to those who may not see it.
func (n *Node) WouldExpose(id grid.NodeID, spec *grid.JobSpec) bool {
	q := n.peers.get(id)
	return spec.Access() == grid.AccessOwner && q != nil && !q.hidesJobs
}
