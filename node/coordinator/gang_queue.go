package coordinator

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"skep/discovery"
	"skep/grid"
	"skep/node/contract"
	"skep/node/gangs"
	"skep/node/schedule"
)

// gangQueue is the gangs that this node places. One asks for slots at a time, so that they do not take them from each
// other.
type gangQueue struct {
	rand *grid.Rand
	by   map[uint64]*job // by handle; iterated in order of the handles alone
	turn *job            // whose round is under way; nil = none
	next []*job          // that wait for their turn

	lastRound uint32 // number of the last round of any gang: above all of an earlier run, which workers may remember
}

// roundsPerBoot is the distance between the first rounds of two runs of an owner.
const roundsPerBoot = 1 << 20

func newGangQueue(boot uint64, r *grid.Rand) gangQueue {
	return gangQueue{rand: r, lastRound: uint32(boot * roundsPerBoot)}
}

// gangOf returns the state of a gang.
func (c *Coordinator) gangOf(j *job) *gangs.Gang {
	if j.gang == nil {
		c.live.lastHandle++
		j.gang, j.contract = gangs.New(c.live.lastHandle, j.spec.Gang.Ranks), new(contract.Contract)
		if c.queue.gangs.by == nil {
			c.queue.gangs.by = make(map[uint64]*job)
		}
		c.queue.gangs.by[j.gang.Handle] = j
	}
	return j.gang
}

// endTurn lets other gangs ask for slots, if it is this one's turn.
func (c *Coordinator) endTurn(j *job) {
	if q := &c.queue.gangs; q.turn == j {
		next := q.next
		q.turn, q.next = nil, nil
		for _, o := range next {
			c.requeueJob(o)
		}
	}
}

// gangTimer handles what is due of a gang: the end of a pause, or of a wait for workers.
func (c *Coordinator) gangTimer(now grid.Time, handle uint64, fx *grid.Effects) {
	j := c.queue.gangs.by[handle]
	switch {
	case j == nil || now < j.gang.Due:
	case j.gang.Phase() == gangs.Running:
		c.stayGang(now, j, "not all nodes of a better schedule say to keep slots for it", fx)
	case j.gang.Phase() == gangs.Waiting && !j.cancelled:
		c.requeueJob(j)
	case j.gang.Phase() == gangs.Reserving || j.gang.Phase() == gangs.Offered && !j.gang.MayRun():
		c.giveUpGang(now, j, fx)
	}
}

// brokenGangs checks that the gangs known are those of jobs that this node places, and no others.
func brokenGangs(c *Coordinator) string {
	known := 0
	for j := range c.jobs.All() {
		if j.gang == nil {
			continue
		}
		if known++; c.queue.gangs.by[j.gang.Handle] != j || !j.leads() {
			return fmt.Sprintf("job %v: it is placed as a gang, and is over or owned elsewhere", j.id.Short())
		}
	}
	if n := len(c.queue.gangs.by); n != known {
		return fmt.Sprintf("%d gangs are known, of %d jobs", n, known)
	}
	return ""
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
	q := &c.queue.gangs
	q.next = slices.DeleteFunc(q.next, func(o *job) bool { return o == j })
	delete(q.by, j.gang.Handle)
	j.gang, j.contract = nil, nil
}

// gangChooser returns what chooses a gang's workers.
func gangChooser(g *grid.Gang) (gangs.Chooser, error) {
	if g.Search == nil {
		return gangs.FewestNodes{}, nil
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
	return j.gang.Phase() == gangs.Running && (j.spec.Retries > 0 || j.running > 0 ||
		l.task().attempt.Epoch >= j.replica.fullHistoryFrom)
}

// offerStamp returns the start lease stamp of an offer: a rank gets its start lease only when all ranks have a place.
func (c *Coordinator) offerStamp(now grid.Time, l *liveTask) uint64 {
	if l.job.spec.IsGang() {
		return 0
	}
	return c.peers.Stamp(now, l.task().worker)
}

// gangSearchDone has the gangs go on that waited for a search, which is not repeated soon.
func (c *Coordinator) gangSearchDone(now grid.Time, f *discovery.Found, fx *grid.Effects) {
	for _, h := range slices.Sorted(maps.Keys(c.queue.gangs.by)) {
		if j := c.queue.gangs.by[h]; j.gang.Search == f.ID && j.gang.Phase() == gangs.Waiting {
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
	if l.task().lost >= j.spec.Retries {
		return ""
	}
	for i := range j.spec.Count {
		o := j.at(i).live
		if o == nil || o == l || j.gang.Result(i) != nil {
			continue
		}
		if w := o.task().worker; w != c.cfg.Self && !c.peers.Connected(w) {
			return "the node of rank " + strconv.Itoa(int(i)) + ", " + c.peers.Name(w) + ", was not connected"
		}
	}
	return ""
}

// adoptEnded takes the attempt of a recorded end for that of the gang, unless one is known, and returns for how many of
// its ranks an end is recorded.
func (c *Coordinator) adoptEnded(j *job) (ended int) {
	g := j.gang
	for _, t := range j.known() {
		if n := j.spec.Gang.RanksOf(t.attempt); t.state == grid.Ended && g.Phase() == gangs.Waiting && n > 0 &&
			t.attempt != (grid.Attempt{}) {
			g.Adopt(t.attempt, n)
		}
	}
	for i := range g.Ranks() {
		if j.state(i) == grid.Ended {
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
		if l := j.at(i).live; l != nil && l.task().attempt.Less(a) {
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
	return j.at(0).history.Last().Refusal
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
		if last := j.task(i).lastAttempt(j.replica.State().Epoch); a.Less(last) {
			a = last
		}
	}
	return j.spec.Gang.After(a, ranks)
}

// askAhead has a gang move: at once, or when the nodes of its new schedule where it has no rank keep slots for it.
func (c *Coordinator) askAhead(now grid.Time, j *job, to gangs.Choice, fx *grid.Effects) {
	q, g := &c.queue.gangs, j.gang
	q.lastRound++
	if !j.contract.AskAhead(to, j.held(), &grid.Reserve{Job: j.id, Attempt: j.nextAttempt(to.Ranks()), Round: q.lastRound,
		Needs: j.spec.Needs.Resources, TTL: gangs.TTL, Age: max(now.Sub(j.arrived), 0)}, fx) {
		c.moveGang(now, j, to, fx)
		return
	}
	q.turn, g.Due = j, now.Add(c.cfg.PollCap)
	fx.Wake(g.Due, grid.TimerGang, g.Handle)
}
