package node

import "skep/grid"

// An answer is accepted only from the node that was asked, and only for that question. An answer that was certainly
// never asked for is an offence; a late or repeated answer of an honest node is ignored.

// countOffence counts an answer that this node did not ask for, and reports the sender to the driver.
func (n *parts) countOffence(from grid.NodeID, fx *grid.Effects) {
	n.stats.Stale++
	fx.Offences = append(fx.Offences, from)
}

// isOutsider reports whether a node answers for a register of which it is not a member.
func (c *coordinator) isOutsider(j *job, from grid.NodeID) bool {
	return j != nil && j.replica.Place(from) < 0
}
