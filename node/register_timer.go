package node

import (
	"skep/grid"
	"skep/node/replication"
)

// scheduleTick sets the timer for the next check of the registers, a third of a lease from now. Without replicas there
// is no timer.
func (c *coordinator) scheduleTick(now grid.Time, fx *grid.Effects) {
	if !c.replicaWake && len(c.replicas.Open()) > 0 {
		c.replicaWake = true
		fx.Wake(now.Add(c.cfg.Lease/3), grid.TimerRegister, tickKey)
	}
}

// replicaTimer handles the timers of registers: periodic tick, end of a takeover grace, cancel
// barriers, bulk ends and closing.
func (c *coordinator) replicaTimer(now grid.Time, key uint64, fx *grid.Effects) {
	switch key {
	case tickKey:
		c.tickRegisters(now, fx)
	case graceKey:
		c.endGrace(now, fx)
	case barrierKey:
		c.checkBarriers(now, fx)
	case bulkEndKey:
		c.continueBulkEnds(now, fx)
	case closeKey:
		c.closeJobs(now, fx)
	}
}

// graceEntry is a job in its takeover grace.
type graceEntry struct {
	job   *job
	until grid.Time
}

// endGrace places the unclaimed tasks of the jobs whose takeover grace is over. Entries expire in FIFO order: all share
// one duration.
func (c *coordinator) endGrace(now grid.Time, fx *grid.Effects) {
	for len(c.grace) > 0 && now >= c.grace[0].until {
		j := c.grace[0].job
		c.grace[0], c.grace = graceEntry{}, c.grace[1:]
		if rep := j.replica; rep.graceUntil != 0 && now >= rep.graceUntil && c.mayAct(now, j) { // else tickReplica does it later
			c.placeUnclaimed(now, j, fx)
		}
	}
	if len(c.grace) == 0 {
		c.grace = nil
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
func (c *coordinator) tickRegisters(now grid.Time, fx *grid.Effects) {
	c.replicaWake = false
	c.replicas.Retire(func(r *replication.Replica) bool { return !c.tickReplica(now, r, fx) })
	c.dropUnowned()
	c.replicas.SendKeepalives(now, c.deposits.Holds, fx)
	c.scheduleTick(now, fx)
}
