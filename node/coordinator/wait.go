package coordinator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"skep/discovery"
	"skep/gossip"
	"skep/grid"
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
	t := l.task()
	if tr := t.history.Last(); tr.What != grid.TraceWait || tr.Refusal != why {
		c.trace(t, grid.Trace{At: now, What: grid.TraceWait, Refusal: why})
	}
	c.parkFor(now, l, d, c.awaitedAfter(l, why.Why), fx)
}

// awaitedAfter is what a task awaits that could not be placed for a reason.
func (c *Coordinator) awaitedAfter(l *liveTask, why grid.Why) awaited {
	switch {
	case why == grid.WhyMajority:
		return awaitMajority
	case why == grid.WhySlots:
		return awaitSlot
	case why == grid.WhyUnproven, why == grid.WhyPolicy && c.awaitsIdleNode(l.job):
		return awaitProof
	case why == grid.WhyNobody, why == grid.WhyGone:
		return awaitNode
	}
	return awaitTimer
}

// parkFor parks a task until a timer after d, or until what it awaits comes before.
func (c *Coordinator) parkFor(now grid.Time, l *liveTask, d time.Duration, a awaited, fx *grid.Effects) {
	l.deadline = now.Add(d)
	c.parkTask(l, a)
	fx.Wake(l.deadline, grid.TimerRetry, l.handle)
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
	for i := 0; i < len(c.live.waiting.list); {
		l := c.live.waiting.list[i]
		if l.awaits == awaitNode && l.job != noneFor {
			if spec := l.job.spec; discovery.Fit(&spec.Needs, spec.Engine, changed.Ad) == grid.WhyNone &&
				c.hasCandidate(now, l) {
				l.search = 0
				c.resumeTask(l)
				continue
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
	busy, dialling, drain := l.Latest(), false, true
	if c.FitsSelf(spec).Why == grid.WhyNone && !l.NeverFits(c.cfg.Self) {
		if why := c.worker.Exec().Refuses(spec.Needs.Resources); why != grid.WhyNone {
			busy = grid.Refusal{Why: why}
		}
	}
	for _, g := range c.gossip.Peers() {
		if g.Ad == nil || l.NeverFits(g.Ad.Node) || discovery.Fit(&spec.Needs, spec.Engine, g.Ad) != grid.WhyNone {
			continue
		}
		why, up := discovery.Now(&spec.Needs, g.Ad), c.peers.Connected(g.Ad.Node)
		if up && spec.Access() == grid.AccessOwner && !c.peers.HidesJobs(g.Ad.Node) {
			c.exclude(now, l, g.Ad.Node, grid.Refusal{Why: grid.WhyAccess})
			continue
		}
		if why.Why != grid.WhyNone && (up || now.Sub(g.Fresh()) < c.cfg.Expire) {
			busy = why // a node that drained and left is expected back until the view drops others
			drain = drain && why.Why == grid.WhyDrain
		} else if !up {
			dialling = true
			c.peers.Dial(now, g.Ad.Node, fx)
		}
	}
	if busy.Why == grid.WhyDrain && drain && !dialling {
		busy.Detail = "only nodes that drain have what it needs"
	}
	switch {
	case busy.Why != grid.WhyNone:
		c.pauseTask(now, l, busy, fx)
	case dialling && l.tries < 4:
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
	c.live.release(l)
	c.end(now, l.job, l.index, r, fx)
}

// reasons lists each known node's reason for not running the task.
func (c *Coordinator) reasons(l *liveTask) string {
	var b strings.Builder
	add := func(name string, r grid.Refusal) {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s %s", name, r.Why)
		if r.Detail != "" {
			fmt.Fprintf(&b, " (%s)", r.Detail)
		}
	}
	spec := l.job.spec
	why := func(id grid.NodeID, ad *grid.Ad) grid.Refusal {
		if why := l.Reason(id); why.Why != grid.WhyNone {
			return why
		}
		return discovery.Match(&spec.Needs, spec.Engine, ad)
	}
	add("this node", why(c.cfg.Self, c.gossip.Ad()))
	for _, g := range c.gossip.Peers() {
		if g.Ad != nil && b.Len() < grid.MaxText {
			name := g.Ad.Name
			if name == "" {
				name = g.Ad.Node.Short()
			}
			r := why(g.Ad.Node, g.Ad)
			if r.Why == grid.WhyNone {
				r.Why = grid.WhyGone
			}
			add(name, r)
		}
	}
	return b.String()
}

// Undrained lets waiting tasks try this node, which takes work again.
func (c *Coordinator) Undrained() {
	for _, l := range slices.Clone(c.live.waiting.list) {
		l.Undrained(c.cfg.Self)
		if l.search == 0 {
			c.resumeTask(l)
		}
	}
	for _, j := range c.queue.awaitingMajority {
		for _, l := range j.replica.awaitingMajority {
			l.Undrained(c.cfg.Self)
		}
	}
}

// expectation is when the tasks of a job that were mapped and have not begun are expected to end.
type expectation struct {
	by, overdue grid.Time // overdue is half as long again
}

// keepMapped has the tasks of a kind that do not begin soon wait for the next event.
func (c *Coordinator) keepMapped(now grid.Time, k *mappedKind, end float64) {
	d := grid.Seconds(min(end, time.Hour.Seconds()))
	k.job.expected = expectation{by: now.Add(d), overdue: now.Add(d + d/2)}
	if k.parked == nil {
		return
	}
	t, why := k.parked.task(), grid.Refusal{Why: grid.WhyPolicy, Detail: "others are mapped first"}
	if tr := t.history.Last(); tr.What != grid.TraceWait || tr.Refusal != why {
		c.trace(t, grid.Trace{At: now, What: grid.TraceWait, Refusal: why})
	}
}

// holdAgain has the queue come to a task that is held and was cancelled before, and asks again for what it waits for.
func (c *Coordinator) holdAgain(j *job, i uint32) {
	if j.nextFresh = min(j.nextFresh, i); j.queueIndex == 0 && !j.setAside {
		c.enqueueJob(j)
		return
	}
	c.changed(grid.JobChange{Kind: grid.JobHeld, Job: j.id})
}
