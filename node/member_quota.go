package node

import (
	"fmt"
	"slices"
	"strings"

	"skep/grid"
)

// What an owner does about members that have no room for more: it does not choose those that say so beforehand, waits for those that say so
// later, and tells who asks.

// withQuotaLeft lists those that have not said that they have no room for a job as large.
func (n *Node) withQuotaLeft(alive []*grid.Ad, f *pendingSubmission) []*grid.Ad {
	full := func(ad *grid.Ad) bool {
		p := n.coMembers.by.get(ad.Node)
		return p != nil && p.room > 0 && f.spec.Count >= p.room
	}
	if !slices.ContainsFunc(alive, full) {
		return alive
	}
	return slices.DeleteFunc(slices.Clone(alive), full)
}

// quotaHint says why some of those that answered keep nothing more.
func quotaHint(nodes int) string {
	if nodes == 0 {
		return ""
	}
	return fmt.Sprintf(", or when fewer jobs of this one go on: %d of them keep as much of it as they may", nodes)
}

// fullMembers says which members refused the last write of a job for want of room; "" = none did. It is written again every third of a lease.
func (j *job) fullMembers() string {
	if j.replica == nil || !j.replica.reg.IsOwner() {
		return ""
	}
	var full []string
	for place, id := range j.replica.reg.Members() {
		if j.replica.reg.Full(place) {
			full = append(full, id.Short())
		}
	}
	if len(full) == 0 {
		return ""
	}
	return "no room for more of it is left on " + strings.Join(full, ", ") + ": there is again when other jobs of this node, or of the job's origin, are over"
}
