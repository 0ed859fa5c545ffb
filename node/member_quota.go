package node

import (
	"fmt"
	"slices"
	"strings"

	"skep/grid"
)

// The owner's handling of full members: it does not choose a node that says so beforehand, keeps writing to a member
// that says so later, and reports it to callers.

// withQuotaLeft returns the candidates that have not reported too little quota for the job.
func (c *coordinator) withQuotaLeft(alive []*grid.Ad, sub *pendingSubmission) []*grid.Ad {
	full := func(ad *grid.Ad) bool {
		room := c.replicas.Room(ad.Node)
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

// fullMembers names the members that refused the job's last write for lack of quota; "" if none. The write is
// repeated every third of a lease.
func (j *job) fullMembers() string {
	if !j.replica.IsOwner() {
		return ""
	}
	var full []string
	for place, id := range j.replica.Members() {
		if j.replica.Full(place) {
			full = append(full, id.Short())
		}
	}
	if len(full) == 0 {
		return ""
	}
	return "no room for more of it is left on " + strings.Join(full, ", ") + ": there is again when other jobs of this node, or of the job's origin, are over"
}
