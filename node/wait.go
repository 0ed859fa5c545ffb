package node

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
func (c *coordinator) pauseTask(now grid.Time, l *liveTask, why grid.Refusal, fx *grid.Effects) {
	d := min(minPause<<min(l.tries, 10), maxPause)
	l.tries++
	c.waitFor(now, l, d, why, fx)
}

// waitForMajority makes a task wait for its job's quorum lease; this does not lengthen its back-off.
func (c *coordinator) waitForMajority(now grid.Time, l *liveTask, fx *grid.Effects) {
	c.waitFor(now, l, c.cfg.Lease/3, grid.Refusal{Why: grid.WhyMajority}, fx)
}

func (c *coordinator) waitFor(now grid.Time, l *liveTask, d time.Duration, why grid.Refusal, fx *grid.Effects) {
	t := l.task()
	if tr := t.traces.last(); tr.What != grid.TraceWait || tr.Refusal != why {
		c.trace(t, grid.Trace{At: now, What: grid.TraceWait, Refusal: why})
	}
	l.awaitsMajority = why.Why == grid.WhyMajority
	l.awaitsProof = why.Why == grid.WhyUnproven || why.Why == grid.WhyPolicy && c.awaitsIdleNode(l.job)
	l.awaitsNode = why.Why == grid.WhyNobody || why.Why == grid.WhyGone
	c.parkFor(now, l, d, fx)
}

// parkFor parks a task until a timer after d, or until something resumes it before.
func (c *coordinator) parkFor(now grid.Time, l *liveTask, d time.Duration, fx *grid.Effects) {
	l.deadline = now.Add(d)
	c.parkTask(l)
	fx.Wake(l.deadline, grid.TimerRetry, l.handle)
}

// resumeTask puts a waiting task back into the retry queue.
func (c *coordinator) resumeTask(l *liveTask) {
	c.dequeue(l)
	c.retry(l)
}

// nodeChanged lets tasks that wait for a fitting node retry: a node came or has a newer ad. Tasks that it does not fit
// keep waiting.
func (c *coordinator) nodeChanged(now grid.Time, changed *gossip.Peer) {
	var noneFor *job // no candidate for its tasks: all have the same needs
	c.backups.due = true
	c.resumeAwaitingProof()
	if changed == nil || changed.Ad == nil {
		return
	}
	for i := 0; i < len(c.live.waiting.list); {
		l := c.live.waiting.list[i]
		if l.awaitsNode && l.job != noneFor {
			if spec := l.job.spec; discovery.Fit(&spec.Needs, spec.Engine, changed.Ad) == grid.WhyNone && c.hasCandidate(now, l) {
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
func (c *coordinator) noCandidate(now grid.Time, l *liveTask, fx *grid.Effects) {
	spec := l.job.spec
	busy, dialling := grid.Refusal{}, false
	for _, o := range l.excluded {
		if !o.why.Why.Never() && !o.preference {
			busy = o.why
		}
	}
	if c.fitsSelf(spec).Why == grid.WhyNone && !l.neverFits(c.cfg.Self) {
		if why := c.worker.Exec().Refuses(spec.Needs.Resources); why != grid.WhyNone {
			busy = grid.Refusal{Why: why}
		}
	}
	for _, g := range c.gossip.Peers() {
		if g.Ad == nil || l.neverFits(g.Ad.Node) || discovery.Fit(&spec.Needs, spec.Engine, g.Ad) != grid.WhyNone {
			continue
		}
		why, up := discovery.Now(&spec.Needs, g.Ad), c.isConnected(g.Ad.Node)
		if up && c.WouldExpose(g.Ad.Node, spec) {
			c.exclude(now, l, g.Ad.Node, grid.Refusal{Why: grid.WhyAccess})
			continue
		}
		if why.Why != grid.WhyNone && (up || now.Sub(g.Fresh()) < c.cfg.Gossip.Expire) {
			busy = why // a node that drained and left is expected back until the view drops others
		} else if !up {
			dialling = true
			c.dial(now, g.Ad.Node, fx)
		}
	}
	switch {
	case busy.Why != grid.WhyNone:
		c.pauseTask(now, l, busy, fx)
	case dialling && l.tries < 4:
		l.tries++
		c.waitFor(now, l, dialPause, grid.Refusal{Why: grid.WhyGone, Detail: "a node that fits is being dialled"}, fx)
	case c.hasUnknownPeers() && l.tries < 4:
		l.tries++
		c.waitFor(now, l, dialPause, grid.Refusal{Why: grid.WhyNobody, Detail: "a node that has just come has not yet said what it is"}, fx)
	case now < l.job.noSearchBefore:
		c.giveUp(now, l, fx)
	default:
		c.trace(l.task(), grid.Trace{At: now, What: grid.TraceSearch})
		l.search = c.discovery.Search(now, &spec.Needs, spec.Engine, c.gossip.Neighbours(), fx)
		c.waitFor(now, l, time.Hour, grid.Refusal{Why: grid.WhyNobody, Detail: "a search is under way"}, fx)
	}
}

// hasUnknownPeers reports whether a connected node has not sent its ad yet. A connected node outside the view is older,
// and was displaced there.
func (c *coordinator) hasUnknownPeers() bool {
	for _, p := range c.peers {
		if g := c.gossip.Peer(p.id); p.up && g != nil && g.Ad == nil {
			return true
		}
	}
	return false
}

// neverFits reports whether a node has said that it can never run the task.
func (l *liveTask) neverFits(id grid.NodeID) bool {
	return slices.ContainsFunc(l.excluded, func(o exclusion) bool { return o.node == id && o.why.Why.Never() })
}

// giveUp ends a task that no node can run, with each known node's reason, or makes it wait if the job asked for that.
func (c *coordinator) giveUp(now grid.Time, l *liveTask, fx *grid.Effects) {
	if l.job.spec.Wait {
		c.pauseTask(now, l, grid.Refusal{Why: grid.WhyNobody, Detail: clip(c.reasons(l))}, fx)
		return
	}
	r := &grid.Result{Cause: grid.Unplaceable, Exit: grid.ExitUnplaceable, Error: clip("nobody can run it: " + c.reasons(l))}
	if l.cannotExecute != nil {
		r = l.cannotExecute
	}
	c.live.become(l, idle)
	c.end(now, l.job, l.index, r, fx)
}

// reasons lists each known node's reason for not running the task.
func (c *coordinator) reasons(l *liveTask) string {
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
		for _, o := range l.excluded {
			if o.node == id {
				return o.why
			}
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

// bestKnown returns this node's ad if it fits, or else, with Discovery.Ads, the ad of the known fitting node with the
// least backlog: the next step of a walk.
func (c *coordinator) bestKnown(needs *grid.Needs, engine string) *grid.Ad {
	if ad := c.selfIfFits(needs, engine); ad != nil || !c.cfg.Discovery.Ads {
		return ad
	}
	var best *gossip.Peer
	for _, g := range c.gossip.Peers() {
		if g.Ad == nil || discovery.Fit(needs, engine, g.Ad) != grid.WhyNone || discovery.Now(needs, g.Ad).Why != grid.WhyNone {
			continue
		}
		if best == nil || g.Ad.Backlog < best.Ad.Backlog || g.Ad.Backlog == best.Ad.Backlog && g.Heard > best.Heard {
			best = g
		}
	}
	if best == nil {
		return nil
	}
	return best.Ad
}

// selfIfFits returns this node's ad if it meets the needs and takes new work; a search then ends here.
func (c *coordinator) selfIfFits(needs *grid.Needs, engine string) *grid.Ad {
	ad := c.gossip.Ad()
	if discovery.Match(needs, engine, ad).Why == grid.WhyNone && discovery.Now(needs, ad).Why == grid.WhyNone {
		return ad
	}
	return nil
}
