package node

import "skep/grid"

// scheduleTick sees to a regular look at the registers, a third of a lease from now. Without any there is no timer.
func (n *Node) scheduleTick(now grid.Time, fx *grid.Effects) {
	if !n.replicaWake && len(n.replicas) > 0 {
		n.replicaWake = true
		fx.Wake(now.Add(n.cfg.Lease/3), grid.TimerRegister, tickKey)
	}
}

// replicaTimer handles the timers of registers: the regular look, the end of a limbo, the end of choosing members.
func (n *Node) replicaTimer(now grid.Time, key uint64, fx *grid.Effects) {
	switch key {
	case tickKey:
		n.tickRegisters(now, fx)
	case graceKey:
		n.endGrace(now, fx)
	case pendingKey:
		n.pendingWake = false
		n.chooseMembers(now, n.pending.all(), true, fx)
		if len(n.pending.all()) == 0 {
			n.coMembers.clearPending()
		}
	case barrierKey:
		n.checkBarriers(now, fx)
	case bulkEndKey:
		n.continueBulkEnds(now, fx)
	case closeKey:
		n.closeJobs(now, fx)
	}
}

// graceEntry is a job that this node has taken over, and how long it waits for word of attempts.
type graceEntry struct {
	job   *job
	until grid.Time
}

// endGrace places what nobody has claimed of the jobs whose limbo is over. They came into it in this order, and all for as long.
func (n *Node) endGrace(now grid.Time, fx *grid.Effects) {
	for len(n.grace) > 0 && now >= n.grace[0].until {
		j := n.grace[0].job
		n.grace[0], n.grace = graceEntry{}, n.grace[1:]
		if g := j.replica; g.graceUntil != 0 && now >= g.graceUntil && n.mayAct(now, j) { // else at a later look at the register
			n.placeUnclaimed(now, j, fx)
		}
	}
	if len(n.grace) == 0 {
		n.grace = nil
	}
}

// Keys of TimerGuard.
const (
	tickKey = iota
	graceKey
	pendingKey
	barrierKey
	closeKey
	bulkEndKey
)

// tickRegisters looks after every register that has not come to its end.
func (n *Node) tickRegisters(now grid.Time, fx *grid.Effects) {
	n.replicaWake = false
	n.exec.WakeAll()
	n.freed = n.freed || len(n.exec.Queue()) > 0 // of registers that this node now acts for
	n.tickReplicas(now, fx)
	n.dropUnowned()
	n.sendKeepalives(now, fx)
	n.scheduleTick(now, fx)
}
