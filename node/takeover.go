package node

import (
	"time"

	"skep/grid"
	"skep/register"
)

// maxTold is how often members are told of a job's end that do not answer; those that come back later ask.
const maxTold = 5

// tend repeats what is not answered, and reports whether there is anything left to look after.
func (n *Node) tend(now grid.Time, j *job, fx *grid.Effects) bool {
	g := j.guard
	r := g.reg
	if n.job(j.id) != j || r.State().Done && !r.Leads() {
		return false
	}
	n.attend(now, j, fx)
	n.unconfirmed(now, j, fx)
	n.recall(now, j, fx)
	for _, id := range r.Members() {
		if q := n.peers.get(id); id != n.cfg.Self && (q == nil || !q.up) {
			n.dial(now, id, fx)
		}
	}
	if !r.Leads() {
		n.stand(now, j, fx)
		return true
	}
	settled := true
	for place := range r.Members() {
		settled = settled && r.Settled(place)
		switch {
		case r.Deaf(place):
			r.Retry(place)
			n.unsaid(j)
		case g.sent[place] != 0 && now >= g.sent[place].Add(n.cfg.Lease/6):
			n.writeAgain(now, j, place, fx)
		}
	}
	if r.State().Done {
		g.told++
		return !settled && g.told <= maxTold
	}
	if g.limbo != 0 && now >= g.limbo && n.acts(now, j) {
		n.replace(now, j, fx)
	}
	n.sweepOn(now, j, fx)
	if g.above > r.State().Epoch && now >= g.due {
		n.bid(now, j, fx)
	}
	return true
}

// writeAgain repeats the write to a member that is under way.
func (n *Node) writeAgain(now grid.Time, j *job, place int, fx *grid.Effects) {
	m := fx.Send(j.guard.reg.Members()[place], grid.KindGuard)
	if j.guard.reg.Again(place, &m.Guard) {
		n.address(now, j, place, m)
		return
	}
	fx.Sends = fx.Sends[:len(fx.Sends)-1]
}

// stand lets a member that has not heard of the owner for long enough try to become it. Those that come later in the
// list wait longer, so that they seldom try at once.
func (n *Node) stand(now grid.Time, j *job, fx *grid.Effects) {
	g := j.guard
	from := n.lastHeard(j).Add(wait(n.cfg.Lease) + time.Duration(n.rank(j))*n.cfg.Lease/2)
	if g.orphan {
		from = g.wrote.Add(wait(n.cfg.Lease))
	}
	if now >= max(from, g.due) {
		n.bid(now, j, fx)
	}
}

// rank is how many members come before this one when the owner is gone.
func (n *Node) rank(j *job) int {
	r := j.guard.reg
	k := len(r.Members())
	return (r.Place(n.cfg.Self) - r.Place(j.guard.boss) - 1 + 2*k) % k
}

// bid begins a try to become the owner, or asks again.
func (n *Node) bid(now grid.Time, j *job, fx *grid.Effects) {
	g := j.guard
	if g.reg.Bids() <= max(g.above, g.reg.State().Promised) {
		g.reg.Bid(g.above)
	}
	for place, id := range g.reg.Members() {
		m := fx.Send(id, grid.KindPromise)
		m.Guard.Job = j.id
		if !g.reg.Asks(place, &m.Guard) {
			fx.Sends = fx.Sends[:len(fx.Sends)-1]
		} else if m.Guard.Next == 0 {
			n.introduce(now, j, &m.Guard)
		}
	}
}

// promised takes the answer of a member that was asked.
func (n *Node) promised(now grid.Time, from grid.NodeID, a *grid.Guard, fx *grid.Effects) {
	j := n.job(a.Job)
	if n.outsider(j, from) {
		n.unasked(from, fx)
		return
	}
	if j == nil || j.guard == nil || j.guard.reg.Bids() == 0 {
		n.stats.Stale++
		return
	}
	g := j.guard
	n.turn(now, a.Finals)
	led := g.reg.Leads()
	n.leads++
	switch out := g.reg.Promised(from, a, n.cfg.Boot<<40|n.leads<<20); out {
	case register.BidWon, register.BidRenewed:
		renewed := out == register.BidRenewed
		if led && !renewed {
			n.disown(j, fx)
		}
		n.crown(now, j, renewed, fx)
	case register.BidLost:
		if a.Answer == grid.GuardHigher {
			n.higher(now, j, a, fx)
		}
		n.backOff(now, j)
	case register.BidVoid:
		if led {
			n.stepDown(j, fx)
		}
		n.clear(now, j, fx)
		n.forgetJob(j, fx)
	case register.BidDone:
		if led {
			n.stepDown(j, fx)
		}
		n.saveAll(j, fx)
		n.over(now, j, fx)
	case register.BidOpen:
		m := fx.Send(from, grid.KindPromise)
		m.Guard.Job = j.id
		if !a.More || !g.reg.Asks(g.reg.Place(from), &m.Guard) {
			fx.Sends = fx.Sends[:len(fx.Sends)-1]
		}
	}
}

// backOff lets a member wait after a try that came to nothing.
func (n *Node) backOff(now grid.Time, j *job) {
	d := n.cfg.Lease / 2
	j.guard.due = now.Add(d + time.Duration(n.rng.Int64N(int64(d)*int64(1+n.rank(j)))))
}

// higher learns that a member has promised a higher epoch, and perhaps who owns it.
func (n *Node) higher(now grid.Time, j *job, a *grid.Guard, fx *grid.Effects) {
	g := j.guard
	if a.Epoch > g.above {
		g.above = a.Epoch
		n.backOff(now, j)
	}
	if a.Epoch <= g.epoch || a.Owner.IsZero() || a.Owner == n.cfg.Self || g.reg.Place(a.Owner) < 0 {
		return
	}
	if g.reg.Leads() {
		n.stepDown(j, fx)
	}
	n.heed(now, j.id, a.Epoch, a.Owner, fx)
}

// saveAll saves everything that the register holds.
func (n *Node) saveAll(j *job, fx *grid.Effects) {
	n.saveGuard(j, fx)
	n.resize(j)
	for i := range j.guard.reg.Written() {
		n.saveEntry(j, i, fx)
		n.accept(j, i, fx)
	}
	if v, _ := j.guard.reg.Value(j.spec.Count); v == nil && j.cancelled {
		n.saveEntry(j, j.spec.Count, fx)
		n.accept(j, j.spec.Count, fx)
	}
}

// crown makes this node the owner. Attempts of earlier epochs may still run: until the limbo is over nothing is
// placed, and what workers claim is taken over. An owner that only renews its epoch goes on as before: nobody else has acted.
func (n *Node) crown(now grid.Time, j *job, renewed bool, fx *grid.Effects) {
	g := j.guard
	epoch := g.reg.State().Epoch
	clear(g.fresh)
	clear(g.held)
	clear(g.sent)
	g.orphan = false
	n.saveAll(j, fx)
	if !renewed {
		n.stepOut(j)
		for _, t := range j.known() {
			if t.state != grid.Ended {
				t.attempt, t.worker = grid.Attempt{}, grid.NodeID{}
			}
		}
		g.limbo, g.known = now.Add(n.cfg.Lease), epoch
		j.quiet = now.Add(wait(n.cfg.Lease)) // what earlier owners let start
		n.limbo = append(n.limbo, limbo{j, g.limbo})
		fx.Wake(g.limbo, grid.TimerGuard, limboKey)
		n.taken = append(n.taken, j.id)
	}
	n.heed(now, j.id, epoch, n.cfg.Self, fx)
	n.share(now, j)
	n.unsaid(j)
	n.tickIn(now, fx)
	if held, _ := g.reg.Cancelled(); held {
		n.sweepUp(now, j, fx)
	}
}

// stepDown makes this node a mere member again.
func (n *Node) stepDown(j *job, fx *grid.Effects) {
	j.guard.reg.Resign()
	n.disown(j, fx)
}

// disown forgets what this node knew as a job's owner: another has owned it since, and may have done anything.
func (n *Node) disown(j *job, fx *grid.Effects) {
	j.guard.limbo, j.guard.forming, j.guard.inputs, j.guard.leaves, j.guard.sweep = 0, false, nil, nil, sweep{}
	for _, c := range j.guard.cancels {
		fx.Reply(c, j.id, "another node has taken the job over: cancel it again")
	}
	j.guard.cancels = nil
	if j.calm != nil && len(j.calm.callers) == 0 { // those who wait for a cancellation that was final wait on
		n.uncalm(j)
	}
	n.stepOut(j)
	for i, t := range j.known() {
		if t.live != nil {
			n.drop(t.live)
		}
		if t.state != grid.Ended {
			n.setState(j, i, grid.Pending, fx)
		}
	}
}
