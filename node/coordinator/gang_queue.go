package coordinator

import (
	"strconv"

	"skep/discovery"
	"skep/grid"
	"skep/node/contract"
	"skep/node/gangs"
	"skep/node/schedule"
)

// gangOf returns the state of a gang.
func (c *Coordinator) gangOf(j *job) *gangs.Gang {
	if j.gang == nil {
		j.gang, j.contract = gangs.New(c.live.Handle(), j.spec.Gang.Ranks), new(contract.Contract)
		c.queue.gangs.Add(j.gang.Handle, j)
	}
	return j.gang
}

// endTurn lets other gangs ask for slots, if it is this one's turn.
func (c *Coordinator) endTurn(j *job) {
	for _, o := range c.queue.gangs.End(j) {
		c.requeueJob(o)
	}
}

// gangTimer handles what is due of a gang: the end of a pause, or of a wait for workers.
func (c *Coordinator) gangTimer(now grid.Time, handle uint64, fx *grid.Effects) {
	j := c.queue.gangs.Get(handle)
	switch {
	case j == nil || now < j.gang.Due:
	case j.gang.Phase() == gangs.Running:
		why := "not all nodes of a better schedule say to keep slots for it"
		if _, waits := j.contract.Records(); waits {
			why = "no majority of the members has recorded its move in time"
		}
		c.stayGang(now, j, why, fx)
	case j.gang.Phase() == gangs.Waiting && !j.cancelled:
		c.requeueJob(j)
	case j.gang.Phase() == gangs.Reserving || j.gang.Phase() == gangs.Offered && !j.gang.MayRun():
		c.giveUpGang(now, j, fx)
	}
}

// dropGang gives up what a gang has asked for that is over, or that this node does not own any more, and forgets it.
func (c *Coordinator) dropGang(now grid.Time, j *job, fx *grid.Effects) {
	if j.gang != nil {
		c.releaseSlots(now, j, fx)
		c.forgetGang(j)
	}
}

// forgetGang forgets a gang: slots that it has asked for expire.
func (c *Coordinator) forgetGang(j *job) {
	if j.gang == nil {
		return
	}
	c.endTurn(j)
	c.queue.gangs.Drop(j.gang.Handle)
	j.gang, j.contract = nil, nil
}

// gangChooser returns what chooses a gang's workers.
func gangChooser(g *grid.Gang, later bool) (gangs.Chooser, error) {
	if g.Search == nil {
		return gangs.FewestNodes{Later: later}, nil
	}
	return schedule.New(g.Search)
}

// mayStart reports whether a placed attempt may get a start lease: that of a rank only once all ranks have a place. An
// earlier owner may have given this attempt up, which its workers have not heard, and had a later one run of which
// nothing is left. So a new owner starts no rank of a gang that may run at most once, unless another rank of the same
// attempt has started: then that attempt was the last one.
func (l *liveTask) mayStart() bool {
	j := l.job
	if j.gang == nil {
		return true
	}
	return j.gang.Phase() == gangs.Running && (j.spec.Retries > 0 || j.live.Running() > 0 ||
		l.task().Attempt.Epoch >= j.replica.fullHistoryFrom)
}

// offerStamp returns the start lease stamp of an offer: a rank gets its start lease only when all ranks have a place.
func (c *Coordinator) offerStamp(now grid.Time, l *liveTask) uint64 {
	if l.job.spec.IsGang() {
		return 0
	}
	return c.peers.Stamp(now, l.task().Worker)
}

// gangSearchDone has the gangs go on that waited for a search, which is not repeated soon.
func (c *Coordinator) gangSearchDone(now grid.Time, f *discovery.Found, fx *grid.Effects) {
	for j := range c.queue.gangs.All() {
		if j.gang.Search == f.ID && j.gang.Phase() == gangs.Waiting {
			j.gang.Search, j.gang.Due, j.noSearchBefore = 0, now, now.Add(searchRetryAfter)
			if f.Ad != nil && c.notReady(f.Ad.Node, j.spec) != "" {
				j.gang.Due = now.Add(dialPause)
			}
			c.awaitGang(now, j, grid.Refusal{Why: grid.WhyNobody, Detail: "a search has ended"}, fx)
		}
	}
}

// rankAway names a node that runs another rank and is not connected: a rank that fails then may have failed since it
// heard nothing of that one any more, which is a loss and no failure. "" = there is none, or nothing is run again.
func (c *Coordinator) rankAway(l *liveTask) string {
	j := l.job
	if l.task().Lost >= j.spec.Retries {
		return ""
	}
	for i := range j.spec.Count {
		o := j.at(i).Live
		if o == nil || o == l || j.gang.Result(i) != nil {
			continue
		}
		if w := o.task().Worker; w != c.cfg.Self && !c.peers.Connected(w) {
			return "the node of rank " + strconv.Itoa(int(i)) + ", " + c.peers.Name(w) + ", was not connected"
		}
	}
	return ""
}

// adoptEnded takes the attempt of a recorded end for that of the gang, unless one is known, and returns for how many of
// its ranks an end is recorded.
func (c *Coordinator) adoptEnded(j *job) (ended int) {
	g := j.gang
	for _, t := range j.tasks.Known() {
		if n := j.spec.Gang.RanksOf(t.Attempt); t.State() == grid.Ended && g.Phase() == gangs.Waiting && n > 0 &&
			t.Attempt != (grid.Attempt{}) {
			g.Adopt(t.Attempt, n)
		}
	}
	for i := range g.Ranks() {
		if j.tasks.State(i) == grid.Ended {
			ended++
		}
	}
	return ended
}

// adoptRank records that an attempt of an earlier run or owner is known of a rank. Older ones of other ranks are over.
func (c *Coordinator) adoptRank(now grid.Time, j *job, a grid.Attempt, fx *grid.Effects) {
	g := c.gangOf(j)
	if g.Phase() != gangs.Waiting && !g.Attempt().Less(a) {
		return
	}
	for i := range j.spec.Count {
		if l := j.at(i).Live; l != nil && l.task().Attempt.Less(a) {
			c.dropRank(now, l, fx)
		}
	}
	g.Adopt(a, j.spec.Gang.RanksOf(a))
}

// rankWaits says why a rank has no worker. Why all wait is in the history of the first one.
func (j *job) rankWaits(i uint32) grid.Refusal {
	if g := j.gang; g != nil && !g.Uses(i) {
		return grid.Refusal{Why: grid.WhyGang, Detail: gangs.NotUsed(g.Ranks())}
	}
	return j.at(0).History.Last().Refusal
}

// holdInGrace holds a result that is bad for the gang, and reports whether it did: in a takeover grace a newer attempt
// may yet be reported.
func (c *Coordinator) holdInGrace(l *liveTask, r *grid.Result) bool {
	if l.job.replica.graceUntil == 0 {
		return false
	}
	l.result = r
	c.gangOf(l.job).Hold(l.index, r)
	return true
}

// nextAttempt is the attempt of a gang that follows all of its ranks.
func (j *job) nextAttempt(ranks uint32) (a grid.Attempt) {
	for i := range j.spec.Count {
		if last := j.tasks.At(i).Last(j.replica.State().Epoch); a.Less(last) {
			a = last
		}
	}
	return j.spec.Gang.After(a, ranks)
}

// askAhead has a gang move: at once, or when the nodes of its new schedule where it has no rank keep slots for it.
func (c *Coordinator) askAhead(now grid.Time, j *job, to gangs.Choice, fx *grid.Effects) {
	g := j.gang
	if !j.contract.AskAhead(to, j.held(), &grid.Reserve{Job: j.id, Attempt: j.nextAttempt(to.Ranks()),
		Round: c.queue.gangs.Next(), Needs: j.spec.Needs.Resources, TTL: gangs.TTL, Age: max(now.Sub(j.arrived), 0)}, fx) {
		c.recordMove(now, j, to, fx)
		return
	}
	c.queue.gangs.Begin(j)
	g.Due = now.Add(c.cfg.PollCap)
	fx.Wake(g.Due, grid.TimerGang, g.Handle)
}

// recordMove has a gang move all of whose slots are sure: where its moves are counted, once a majority of the members
// has recorded that its attempt is given up for one.
func (c *Coordinator) recordMove(now grid.Time, j *job, to gangs.Choice, fx *grid.Effects) {
	g := j.gang
	if j.spec.CountsMoves() {
		if e := contract.Entry(j.spec, j.replica, g.Attempt(), c.wall.At(now).UnixNano()); e != nil {
			j.replica.Propose(e)
			c.saveEntry(j, e.Index, fx)
			c.rechargeJob(j)
		}
		if !contract.EndsAsMove(j.spec, j.replica, g.Attempt()) {
			if _, waits := j.contract.Records(); !waits {
				j.contract.Record()
				c.queue.gangs.Begin(j)
				g.Due = now.Add(c.cfg.PollCap)
				fx.Wake(g.Due, grid.TimerGang, g.Handle)
			}
			return
		}
	}
	c.moveGang(now, j, to, fx)
}

// moves is how often a gang has moved, as far as that is known here.
func (j *job) moves() uint32 {
	if !j.spec.CountsMoves() {
		return uint32(j.at(0).Pulls)
	}
	return contract.Made(j.spec, j.replica, j.gangAttempt())
}

// gangAttempt is the attempt of a gang that is not over; zero = it has none.
func (j *job) gangAttempt() (a grid.Attempt) {
	if g := j.gang; g != nil && g.Phase() >= gangs.Offered {
		a = g.Attempt()
	}
	return a
}

// chooseIdle is what would be chosen if no slot were in use.
func (j *job) chooseIdle(by gangs.Chooser, nodes []grid.GangNode) gangs.Choice {
	idle, all := j.gang.WhenIdle(j.count(), j.spec.Needs.Resources, nodes)
	return by.Choose(j.gang.Size(&j.spec.Gang), idle, all)
}
