package coordinator

import (
	"slices"
	"time"

	"skep/discovery"
	"skep/gossip"
	"skep/grid"
	"skep/node/coordinator/live"
	"skep/node/coordinator/survey"
)

// Pauses of a task that cannot be placed: doubled from minPause to maxPause.
const (
	minPause         = 500 * time.Millisecond
	maxPause         = 30 * time.Second
	dialPause        = 5 * time.Second  // for a connection to a node that a search found
	maxDials         = 7                // tries for one task to connect to nodes found: they may be unreachable
	searchRetryAfter = 10 * time.Second // a job's failed search is not repeated before
)

// pauseTask makes a task wait with back-off, and records why.
func (c *Coordinator) pauseTask(now grid.Time, l *liveTask, why grid.Refusal, fx *grid.Effects) {
	d := min(minPause<<min(l.tries, 10), maxPause)
	l.tries++
	c.waitFor(now, l, d, why, fx)
}

// waitForMajority makes a task wait for its job's quorum lease; this does not lengthen its back-off.
func (c *Coordinator) waitForMajority(now grid.Time, l *liveTask, fx *grid.Effects) {
	c.waitFor(now, l, c.cfg.Lease/3, grid.Refusal{Why: grid.WhyMajority}, fx)
}

func (c *Coordinator) waitFor(now grid.Time, l *liveTask, d time.Duration, why grid.Refusal, fx *grid.Effects) {
	c.traceWait(now, l.task(), why)
	c.parkFor(now, l, d, c.awaitedAfter(l, why.Why), fx)
}

// awaitedAfter is what a task awaits that could not be placed for a reason.
func (c *Coordinator) awaitedAfter(l *liveTask, why grid.Why) live.Awaited {
	switch {
	case why == grid.WhyMajority:
		return live.ForMajority
	case why == grid.WhySlots, why == grid.WhyBudget:
		return live.ForSlot
	case why == grid.WhyUnproven, why == grid.WhySecret, why == grid.WhyPolicy && c.awaitsIdleNode(l.job):
		return live.ForProof
	case why == grid.WhyNobody, why == grid.WhyGone:
		return live.ForNode
	}
	return live.ForTimer
}

// parkFor parks a task until a timer after d, or until what it awaits comes before.
func (c *Coordinator) parkFor(now grid.Time, l *liveTask, d time.Duration, a live.Awaited, fx *grid.Effects) {
	l.deadline = now.Add(d)
	c.parkTask(l, a)
	fx.Wake(l.deadline, grid.TimerRetry, l.Key())
}

// resumeTask puts a waiting task back into the retry queue.
func (c *Coordinator) resumeTask(l *liveTask) {
	c.dequeue(l)
	c.retry(l)
}

// AdNews returns the callback for each ad that is newer than the known one.
func (c *Coordinator) AdNews(now grid.Time) func(*gossip.Peer) {
	return func(g *gossip.Peer) {
		if c.peers.AdHeard(g) {
			c.NodeChanged(now, g)
		}
	}
}

// NodeChanged lets tasks that wait for a fitting node retry: a node came or has a newer ad. Tasks that it does not fit
// keep waiting.
func (c *Coordinator) NodeChanged(now grid.Time, changed *gossip.Peer) {
	var noneFor *job // no candidate for its tasks: all have the same needs
	c.backups.due = true
	c.mappings.Changed()
	c.ResumeAwaitingProof()
	if changed == nil || changed.Ad == nil {
		return
	}
	for i := 0; i < len(c.live.Waiting()); {
		l := c.live.Waiting()[i]
		if l.Awaits() == live.ForNode && l.job != noneFor {
			if discovery.Suits(l.job.spec, changed.Ad) == grid.WhyNone {
				if v, _ := c.candidates(now, l); len(v.Nodes) > 0 {
					l.search = 0
					c.resumeTask(l)
					continue
				}
			}
			noneFor = l.job
		}
		i++
	}
}

// noCandidate handles a task that no reachable node would take now. Three cases: a node fits but refuses for now, so
// the task waits; a known node fits but is not connected, so it is dialled; no known node fits, so a search is sent.
func (c *Coordinator) noCandidate(now grid.Time, l *liveTask, fx *grid.Effects) {
	spec := l.job.spec
	busy := l.Latest()
	if c.FitsSelf(spec).Why == grid.WhyNone && !l.NeverFits(c.cfg.Self) {
		if why := c.worker.Exec().Refuses(spec.Needs.Resources); why != grid.WhyNone {
			busy = grid.Refusal{Why: why}
		} else if why := c.peers.AcceptsNow(spec); why.Why != grid.WhyNone {
			busy = why
		}
	}
	s := c.survey()
	f := s.Look(now, spec, &l.Set, busy, fx)
	for _, id := range f.Exposes {
		c.exclude(now, l, id, grid.Refusal{Why: grid.WhyAccess})
	}
	switch {
	case f.Busy.Why != grid.WhyNone:
		c.pauseTask(now, l, f.Busy, fx)
	case f.Dialled && l.tries < 4:
		l.tries++
		c.waitFor(now, l, dialPause, grid.Refusal{Why: grid.WhyGone, Detail: "a node that fits is being dialled"}, fx)
	case c.peers.ExpectsAds() && l.tries < 4:
		l.tries++
		c.waitFor(now, l, dialPause, grid.Refusal{Why: grid.WhyNobody,
			Detail: "a node that has just come has not yet said what it is"}, fx)
	case now < l.job.noSearchBefore:
		c.giveUp(now, l, fx)
	default:
		c.trace(l.task(), grid.Trace{At: now, What: grid.TraceSearch})
		l.search = c.discovery.Search(now, &spec.Needs, spec.Engine, c.gossip.Neighbours(), fx)
		c.waitFor(now, l, time.Hour, grid.Refusal{Why: grid.WhyNobody, Detail: "a search is under way"}, fx)
	}
}

// giveUp ends a task that no node can run, with each known node's reason, or makes it wait if the job asked for that.
func (c *Coordinator) giveUp(now grid.Time, l *liveTask, fx *grid.Effects) {
	if l.job.spec.Wait {
		c.pauseTask(now, l, grid.Refusal{Why: grid.WhyNobody, Detail: clip(c.reasons(l))}, fx)
		return
	}
	r := &grid.Result{Cause: grid.Unplaceable, Exit: grid.ExitUnplaceable,
		Error: clip("nobody can run it: " + c.reasons(l))}
	if l.cannotExecute != nil {
		r = l.cannotExecute
	}
	c.live.Release(l)
	c.end(now, l.job, l.index, r, fx)
}

// reasons lists each known node's reason for not running the task.
func (c *Coordinator) reasons(l *liveTask) string {
	s := c.survey()
	return s.Reasons(l.job.spec, &l.Set, c.gossip.Ad())
}

func (c *Coordinator) survey() survey.Survey {
	return survey.Survey{Peers: c.peers, Known: c.gossip.Peers(), Expire: c.cfg.Expire}
}

// TryHere lets waiting tasks try this node: it takes work again, or at another hour it may accept theirs.
func (c *Coordinator) TryHere() {
	for _, l := range slices.Clone(c.live.Waiting()) {
		l.Undrained(c.cfg.Self)
		if l.search == 0 {
			c.resumeTask(l)
		}
	}
	for _, j := range c.queue.awaitingMajority {
		for _, l := range j.live.AwaitingMajority() {
			l.Undrained(c.cfg.Self)
		}
	}
}

// What waits here is also offered to idle nodes that ask for work (package pull).

const (
	maxWaiting     = 64 // waiting tasks that are considered
	maxWaitingJobs = 16 // jobs that they are of
)

// mayGrant reports whether a waiting task may be offered to a node that asks: not one whose policy decided that it
// waits, but for one that was mapped and has not begun, nor one that was lost and is placed again later.
func (c *Coordinator) mayGrant(now grid.Time, l *liveTask) bool {
	if l.Awaits() == live.ForMapping && l.job.expected.by == 0 || l.job.spec.Unheld(c.peers.Connected) != nil {
		return false
	}
	return !l.planned && !l.job.isFull(0) && now >= l.pauseUntil && !c.isLocal(l.job.spec) && c.mayAct(now, l.job) &&
		(l.Awaits() == live.ForMapping || l.task().History.Last().Refusal.Why != grid.WhyPolicy || c.awaitsIdleNode(l.job))
}

// Waiting appends what waits for its placement here, by job; in turns, where much does.
func (c *Coordinator) Waiting(now grid.Time, dst []grid.Waiting) []grid.Waiting {
	first := len(dst)
	for l := range c.live.Turn(maxWaiting) {
		same := func(x grid.Waiting) bool { return x.Job == l.job.id && x.Class == l.class() }
		if slices.ContainsFunc(dst[first:], same) || !c.mayGrant(now, l) {
			continue
		}
		w := grid.Waiting{Job: l.job.id, Owner: c.cfg.Self, Spec: l.job.spec, Class: l.class(), Level: l.level(),
			Overdue: true}
		if l.Awaits() == live.ForMapping {
			w.End, w.Overdue = max(l.job.expected.by.Sub(now), 0).Seconds(), now >= l.job.expected.overdue
		}
		if dst = append(dst, w); len(dst)-first == maxWaitingJobs {
			break
		}
	}
	return dst
}

// Grant offers a waiting task of a job to an idle node that asked for one, and reports whether it did.
func (c *Coordinator) Grant(now grid.Time, x *grid.Waiting, to grid.NodeID, fx *grid.Effects) bool {
	l := c.grantable(now, x)
	if l == nil {
		return false
	}
	s := c.candidate(now, l, to)
	if s == nil || !c.pays(l, s) {
		return false
	}
	c.dequeue(l)
	l.search = 0
	as := s.As(to, x.Option)
	c.offerTo(now, l, &as, fx)
	return true
}

// grantable returns a task among those that Waiting considered last; nil if none may be granted any more.
func (c *Coordinator) grantable(now grid.Time, x *grid.Waiting) *liveTask {
	for l := range c.live.LastTurn(maxWaiting) {
		if l.job.id == x.Job && l.class() == x.Class && c.mayGrant(now, l) {
			return l
		}
	}
	return nil
}
