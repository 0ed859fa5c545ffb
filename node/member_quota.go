package node

import (
	"fmt"
	"slices"

	"skep/grid"
)

// withQuotaLeft returns the candidates that have not reported too little quota for the job.
func (n *Node) withQuotaLeft(alive []*grid.Ad, sub *pendingSubmission) []*grid.Ad {
	full := func(ad *grid.Ad) bool {
		room := n.replicas.Room(ad.Node)
		return room > 0 && sub.spec.Count >= room
	}
	if !slices.ContainsFunc(alive, full) {
		return alive
	}
	return slices.DeleteFunc(slices.Clone(alive), full)
}

// quotaHint explains that some of the nodes that answered have no quota left.
func quotaHint(nodes int) string {
	if nodes == 0 {
		return ""
	}
	return fmt.Sprintf(", or when fewer jobs of this one go on: %d of them keep as much of it as they may", nodes)
}
