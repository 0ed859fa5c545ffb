package node

import (
	"skep/grid"
	"skep/node/replication"
)

// scheduleTick sets the timer for the next check of the registers, a third of a lease from now. Without replicas there
// is no timer.
func (n *Node) scheduleTick(now grid.Time, fx *grid.Effects) {
	if !n.replicaWake && len(n.replicas.Open()) > 0 {
		n.replicaWake = true
		fx.Wake(now.Add(n.cfg.Lease/3), grid.TimerRegister, tickKey)
	}
}

// replicaTimer handles the timers of registers: periodic tick, end of a takeover grace, choice of members, cancel
// barriers, bulk ends and closing.
func (n *Node) replicaTimer(now grid.Time, key uint64, fx *grid.Effects) {
	switch key {
	case tickKey:
		n.tickRegisters(now, fx)
	case graceKey:
		n.endGrace(now, fx)
	case pendingKey:
		n.createJobs(now, n.submissions.Wake(now, fx), fx)
	case barrierKey:
		n.checkBarriers(now, fx)
	case bulkEndKey:
		n.continueBulkEnds(now, fx)
	case closeKey:
		n.closeJobs(now, fx)
	}
}

// graceEntry is a job in its takeover grace.
type graceEntry struct {
	job   *job
	until grid.Time
}

// endGrace places the unclaimed tasks of the jobs whose takeover grace is over. Entries expire in FIFO order: all share
// one duration.
func (n *Node) endGrace(now grid.Time, fx *grid.Effects) {
	for len(n.grace) > 0 && now >= n.grace[0].until {
		j := n.grace[0].job
		n.grace[0], n.grace = graceEntry{}, n.grace[1:]
		if rep := j.replica; rep.graceUntil != 0 && now >= rep.graceUntil && n.mayAct(now, j) { // else tickReplica does it later
			n.placeUnclaimed(now, j, fx)
		}
	}
	if len(n.grace) == 0 {
		n.grace = nil
	}
}

// Keys of TimerRegister.
const (
	tickKey = iota
	graceKey
	pendingKey
	barrierKey
	closeKey
	bulkEndKey
)

// tickRegisters checks every replica whose job is not closed.
func (n *Node) tickRegisters(now grid.Time, fx *grid.Effects) {
	n.replicaWake = false
	n.replicas.Retire(func(r *replication.Replica) bool { return !n.tickReplica(now, r, fx) })
	n.dropUnowned()
	n.replicas.SendKeepalives(now, n.deposits.Holds, fx)
	n.scheduleTick(now, fx)
}
