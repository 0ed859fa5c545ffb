package node

import "skep/grid"

// tickIn sees to a regular look at the registers, a third of a lease from now. Without any there is no timer.
func (n *Node) tickIn(now grid.Time, fx *grid.Effects) {
	if !n.guardWake && len(n.guards) > 0 {
		n.guardWake = true
		fx.Wake(now.Add(n.cfg.Lease/3), grid.TimerGuard, tickKey)
	}
}

// guardWoken handles the timers of registers: the regular look, the end of a limbo, the end of choosing members.
func (n *Node) guardWoken(now grid.Time, key uint64, fx *grid.Effects) {
	switch key {
	case tickKey:
		n.tick(now, fx)
	case limboKey:
		n.leaveLimbo(now, fx)
	case formKey:
		n.formWake = false
		n.form(now, n.forming.all(), true, fx)
		if len(n.forming.all()) == 0 {
			n.pairs.expectNone()
		}
	case calmKey:
		n.calmDown(now, fx)
	case sweepKey:
		n.sweepAll(now, fx)
	case closeKey:
		n.conclude(now, fx)
	}
}

// limbo is a job that this node has taken over, and how long it waits for word of attempts.
type limbo struct {
	job   *job
	until grid.Time
}

// leaveLimbo places what nobody has claimed of the jobs whose limbo is over. They came into it in this order, and all for as long.
func (n *Node) leaveLimbo(now grid.Time, fx *grid.Effects) {
	for len(n.limbo) > 0 && now >= n.limbo[0].until {
		j := n.limbo[0].job
		n.limbo[0], n.limbo = limbo{}, n.limbo[1:]
		if g := j.guard; g.limbo != 0 && now >= g.limbo && n.acts(now, j) { // else at a later look at the register
			n.replace(now, j, fx)
		}
	}
	if len(n.limbo) == 0 {
		n.limbo = nil
	}
}

// Keys of TimerGuard.
const (
	tickKey = iota
	limboKey
	formKey
	calmKey
	closeKey
	sweepKey
)

// tick looks after every register that has not come to its end.
func (n *Node) tick(now grid.Time, fx *grid.Effects) {
	n.guardWake = false
	n.exec.WakeAll()
	n.freed = n.freed || len(n.exec.Queue()) > 0 // of registers that this node now acts for
	n.tendAll(now, fx)
	n.letAlone()
	n.watch(now, fx)
	n.tickIn(now, fx)
}
