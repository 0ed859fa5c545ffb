package node

import (
	"fmt"
	"slices"
	"strings"

	"skep/grid"
)

// What an owner does about members that have no room for more: it does not choose those that say so beforehand, waits for those that say so
// later, and tells who asks.

// withRoom lists those that have not said that they have no room for a job as large.
func (n *Node) withRoom(alive []*grid.Ad, f *forming) []*grid.Ad {
	full := func(ad *grid.Ad) bool {
		p := n.pairs.by.get(ad.Node)
		return p != nil && p.room > 0 && f.spec.Count >= p.room
	}
	if !slices.ContainsFunc(alive, full) {
		return alive
	}
	return slices.DeleteFunc(slices.Clone(alive), full)
}

// crowded says why some of those that answered keep nothing more.
func crowded(nodes int) string {
	if nodes == 0 {
		return ""
	}
	return fmt.Sprintf(", or when fewer jobs of this one go on: %d of them keep as much of it as they may", nodes)
}

// unroomy says which members refused the last write of a job for want of room; "" = none did. It is written again every third of a lease.
func (j *job) unroomy() string {
	if j.guard == nil || !j.guard.reg.Leads() {
		return ""
	}
	var full []string
	for place, id := range j.guard.reg.Members() {
		if j.guard.reg.Full(place) {
			full = append(full, id.Short())
		}
	}
	if len(full) == 0 {
		return ""
	}
	return "no room for more of it is left on " + strings.Join(full, ", ") + ": there is again when other jobs of this node, or of the job's origin, are over"
}
