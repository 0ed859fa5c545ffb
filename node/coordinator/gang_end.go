package coordinator

import (
	"fmt"
	"time"

	"skep/grid"
	"skep/node/contract"
	"skep/node/gangs"
)

// How the attempts of gangs end: all ranks together. A rank's end is recorded only when all ranks have ended well, or
// one has failed; until then its worker keeps the result, so that a new owner hears it again. Of a gang of which a
// rank's end is recorded no rank is run again.

// endRanks records the ends of all ranks that have none, of those whose results are held these, of those that the
// attempt does not use that they are not used, of the others what other says, and forgets the gang.
func (c *Coordinator) endRanks(now grid.Time, j *job, other func(i uint32) *grid.Result, fx *grid.Effects) {
	g := j.gang
	for i := range j.spec.Count {
		if j.tasks.State(i) == grid.Ended {
			continue
		}
		if r := g.Result(i); r != nil {
			c.end(now, j, i, r, fx)
		} else if !g.Uses(i) {
			j.leaveOut(i, g.Attempt())
			c.end(now, j, i, gangs.Unused(g.Ranks()), fx)
		} else { // its worker may have a start lease
			c.startsPossible(now, j, j.at(i).Worker)
			c.end(now, j, i, other(i), fx)
		}
	}
	c.dequeueJob(j)
	c.dropGang(now, j, fx)
}

// leaveOut makes a rank one of an attempt that does not use it: the ends of all ranks are those of one attempt.
func (j *job) leaveOut(i uint32, a grid.Attempt) {
	t := j.tasks.At(i)
	t.Attempt, t.Worker, t.Placed = a, grid.NodeID{}, 0
}

// uses reports whether a task is no rank that the last attempt of its gang left out.
func (j *job) uses(i uint32) bool {
	ranks := j.spec.Gang.RanksOf(j.at(i).Attempt) // 0 = there was no attempt
	return !j.spec.IsGang() || ranks == 0 || i < ranks
}

// rankEnded holds the result of a rank that has ended well, or ends the gang with one that has not.
func (c *Coordinator) rankEnded(now grid.Time, l *liveTask, r *grid.Result, fx *grid.Effects) {
	j, i, g := l.job, l.index, c.gangOf(l.job)
	if r.Exit != 0 {
		switch gone := c.rankAway(l); {
		case c.holdInGrace(l, r):
		case gone != "":
			c.loseGang(now, j, i, fmt.Sprintf("rank %d ended with %d while %s", i, r.Exit, gone), fx)
		default:
			c.end(now, j, i, r, fx)
			c.endRanks(now, j, func(uint32) *grid.Result { return gangs.Stopped(i, r) }, fx)
		}
		return
	}
	l.result = r
	g.Hold(i, r)
	for k := range g.Ranks() {
		if j.tasks.State(k) != grid.Ended && g.Result(k) == nil {
			return
		}
	}
	c.endRanks(now, j, nil, fx)
}

// rankLost handles the loss of a rank's attempt, and reports whether it was one: all ranks are lost with it. One of
// which nothing can have started was never placed.
func (c *Coordinator) rankLost(now grid.Time, l *liveTask, why grid.Refusal, fx *grid.Effects) bool {
	j, i := l.job, l.index
	if !j.spec.IsGang() {
		return false
	}
	g := c.gangOf(j)
	switch {
	case g.Result(i) != nil: // its files are here
		c.renewLease(now, l, fx)
		return true
	case !g.MayRun():
		g.SetRoom(l.task().Worker, 0, now.Add(c.cfg.Lease))
		g.Held = append(g.Held, gangs.Refusal{Node: l.task().Worker, Why: why})
		c.giveUpGang(now, j, fx)
		return true
	}
	c.countLost(now, l, &l.expectation, l.task().Worker, why)
	if why.Why == grid.WhyFetch {
		c.peers.Failed(now, l.class(), l.task().Worker)
	}
	text := "the node that ran it " + why.Why.String()
	if why.Detail != "" {
		text += ": " + why.Detail
	}
	g.SetRoom(l.task().Worker, 0, now.Add(c.cfg.Lease))
	if j.replica.graceUntil != 0 { // a newer attempt may yet be reported; the end of the grace decides, once for all ranks
		g.Miss(i, text)
		c.dropRank(now, l, fx)
		return true
	}
	c.loseGang(now, j, i, text, fx)
	return true
}

// loseGang ends the attempt of all ranks. The gang is placed again, or ends as lost if it was lost too often or may run
// at most once.
func (c *Coordinator) loseGang(now grid.Time, j *job, by uint32, why string, fx *grid.Effects) {
	lost, ended := int32(0), j.tasks.In(grid.Ended) > 0
	for i := range j.spec.Count {
		lost = max(lost, j.at(i).Lost+1)
	}
	moves := !ended && contract.EndsAsMove(j.spec, j.replica, j.gangAttempt())
	if ended || lost > j.spec.Retries && !moves {
		if once := j.spec.OnceReason(); once != "" {
			why += "; " + once
		}
		c.endRanks(now, j, func(uint32) *grid.Result { return gangs.LostWith(by, why) }, fx)
		return
	}
	if moves {
		c.finishMove(now, j, why, fx)
		return
	}
	for i := range j.spec.Count {
		j.tasks.At(i).Lost = lost
	}
	pause := min(c.cfg.Lease/4<<min(max(c.vainLosses(j, 0, lost)-2, 0), 10), maxRetryDelay)
	c.restartGang(now, j, pause, "it was lost: "+why, fx)
}

// rankNotExecuted handles a rank that its worker could not execute or prepare, and reports whether it was one: the gang
// is placed again without that worker, or ends with the rank's code.
func (c *Coordinator) rankNotExecuted(now grid.Time, l *liveTask, from grid.NodeID, r *grid.Result,
	fx *grid.Effects) bool {
	if !l.job.spec.IsGang() {
		return false
	}
	j, i := l.job, l.index
	if c.holdInGrace(l, r) {
		return true
	}
	if l.job.spec.Folders == nil {
		c.peers.Ended(now, l.class(), from, r)
	}
	if l.task().Lost >= j.spec.Retries {
		c.rankEnded(now, l, r, fx)
		return true
	}
	c.gangOf(j).Unfit(from, r)
	c.loseGang(now, j, i, r.Error, fx)
	return true
}

const unreported = "nobody reports it to the node that has taken the job over"

// settleGang decides, at the end of a takeover grace, about a gang whose earlier owner's attempts workers have reported
// or not. It reports whether it is one of which something was reported or recorded.
func (c *Coordinator) settleGang(now grid.Time, j *job, fx *grid.Effects) bool {
	if !j.spec.IsGang() || j.cancelled {
		return false
	}
	if j.tasks.In(grid.Ended) == j.count() { // its gang is forgotten
		return true
	}
	g, live, missing := c.gangOf(j), 0, uint32(0)
	i, half := j.halfMoved()
	if half || g.HasMissed() && j.tasks.In(grid.Ended) == 0 { // what other ranks report as a failure may come of it
		i, why := g.Missed(i, unreported)
		c.loseGang(now, j, i, why, fx)
		return true
	}
	ended := c.adoptEnded(j)
	for i := range g.Ranks() {
		t := j.at(i)
		switch r := g.Result(i); {
		case t.State() == grid.Ended && t.Result.Exit != 0:
			c.endRanks(now, j, func(uint32) *grid.Result { return gangs.Stopped(i, t.Result.Result()) }, fx)
			return true
		case r != nil && r.Cause.Refused():
			return c.rankNotExecuted(now, t.Live, t.Worker, r, fx)
		case r != nil && r.Exit != 0:
			c.rankEnded(now, t.Live, r, fx)
			return true
		case t.Live != nil:
			live++
		case t.State() != grid.Ended:
			missing = i
		}
	}
	switch {
	case live+ended == int(g.Ranks()) && live > 0:
	case live+ended == int(g.Ranks()):
		c.endRanks(now, j, nil, fx)
	case j.tasks.In(grid.Ended) == 0 && live == 0 && !g.HasMissed(): // what was reported came back without having run
		c.dropGang(now, j, fx)
		c.countMoves(j, fx)
		return false
	case j.tasks.In(grid.Ended) == 0 && g.Phase() == gangs.Waiting:
		return false
	default:
		i, why := g.Missed(missing, unreported)
		c.loseGang(now, j, i, why, fx)
	}
	return true
}

// gangUnplaceable handles a gang that the nodes known could never run: nodes that may come are waited for, and searched
// for, as for a need that nobody meets; then it ends.
func (c *Coordinator) gangUnplaceable(now grid.Time, j *job, nodes []grid.GangNode, text string, fx *grid.Effects) {
	g := j.gang
	why := grid.Refusal{Why: grid.WhyNobody, Detail: clip(text)}
	coming := c.peers.ExpectsAds()
	for _, n := range nodes {
		if n.Refuses.Why == grid.WhyGone {
			coming = true
			c.peers.Dial(now, n.Node, fx)
		}
	}
	switch {
	case coming && g.Patient < 4:
		g.Patient++
		g.Due = now.Add(dialPause)
	case now >= j.noSearchBefore && g.Search == 0:
		g.Due = now.Add(time.Hour)
		g.Search = c.discovery.Search(now, &j.spec.Needs, j.spec.Engine, c.gossip.Neighbours(), fx)
	case j.spec.Wait:
		g.Due = now.Add(maxPause)
	default:
		c.endGangUnplaceable(now, j, text, fx)
		return
	}
	c.awaitGang(now, j, why, fx)
}

// endGangUnplaceable ends a gang that nobody can run.
func (c *Coordinator) endGangUnplaceable(now grid.Time, j *job, why string, fx *grid.Effects) {
	end := &grid.Result{Cause: grid.Unplaceable, Exit: grid.ExitUnplaceable, Error: clip(why)}
	if cannot := j.gang.Cannot(); cannot != nil {
		end = cannot
	}
	c.endRanks(now, j, func(uint32) *grid.Result { return end }, fx)
}
