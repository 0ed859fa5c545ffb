package node

import "skep/grid"

// Jobs with access: owner. They go only to nodes that promise on connect (grid.FeatureAccess) to show such a job only
// to a caller with its capability. Other nodes get no record of the job and run none of its tasks.

// accessHint explains, for a job with access: owner, which further candidates were not eligible; "" if access
// excluded none.
func (n *parts) accessHint(j *JobView) string {
	if j.Spec.Access() == grid.AccessOwner && len(n.memberCandidates(true)) < len(n.memberCandidates(false)) {
		return " that show it to nobody but its owner, as older versions do not"
	}
	return ""
}

// WouldExpose reports whether a known peer would show the job to callers who may not see it.
func (n *parts) WouldExpose(id grid.NodeID, spec *grid.JobSpec) bool {
	q := n.peers.get(id)
	return spec.Access() == grid.AccessOwner && q != nil && !q.hidesJobs
}
