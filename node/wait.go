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
func (n *Node) pauseTask(now grid.Time, l *liveTask, why grid.Refusal, fx *grid.Effects) {
	d := min(minPause<<min(l.tries, 10), maxPause)
	l.tries++
	n.waitFor(now, l, d, why, fx)
}

// waitForMajority makes a task wait for its job's quorum lease; this does not lengthen its back-off.
func (n *Node) waitForMajority(now grid.Time, l *liveTask, fx *grid.Effects) {
	n.waitFor(now, l, n.cfg.Lease/3, grid.Refusal{Why: grid.WhyMajority}, fx)
}

func (n *Node) waitFor(now grid.Time, l *liveTask, d time.Duration, why grid.Refusal, fx *grid.Effects) {
	t := l.task()
	if tr := t.traces.last(); tr.What != grid.TraceWait || tr.Refusal != why {
		n.trace(t, grid.Trace{At: now, What: grid.TraceWait, Refusal: why})
	}
	l.awaitsMajority = why.Why == grid.WhyMajority
	l.awaitsProof = why.Why == grid.WhyUnproven || why.Why == grid.WhyPolicy && n.awaitsIdleNode(l.job)
	l.awaitsNode = why.Why == grid.WhyNobody || why.Why == grid.WhyGone
	n.parkFor(now, l, d, fx)
}

// parkFor parks a task until a timer after d, or until something resumes it before.
func (n *Node) parkFor(now grid.Time, l *liveTask, d time.Duration, fx *grid.Effects) {
	l.deadline = now.Add(d)
	n.parkTask(l)
	fx.Wake(l.deadline, grid.TimerRetry, l.handle)
}

// resumeTask puts a waiting task back into the retry queue.
func (n *Node) resumeTask(l *liveTask) {
	n.dequeue(l)
	n.retry(l)
}

// nodeChanged lets tasks that wait for a fitting node retry: a node came or has a newer ad. Tasks that it does not fit
// keep waiting.
func (n *Node) nodeChanged(now grid.Time, changed *gossip.Peer) {
	var noneFor *job // no candidate for its tasks: all have the same needs
	n.backups.due = true
	n.resumeAwaitingProof()
	if changed == nil || changed.Ad == nil {
		return
	}
	for i := 0; i < len(n.waiting.list); {
		l := n.waiting.list[i]
		if l.awaitsNode && l.job != noneFor {
			if spec := l.job.spec; discovery.Fit(&spec.Needs, spec.Engine, changed.Ad) == grid.WhyNone && n.hasCandidate(now, l) {
				l.search = 0
				n.resumeTask(l)
				continue
			}
			noneFor = l.job
		}
		i++
	}
}

// noCandidate handles a task that no reachable node would take now. Three cases: a node fits but refuses for now, so
// the task waits; a known node fits but is not connected, so it is dialled; no known node fits, so a search is sent.
func (n *Node) noCandidate(now grid.Time, l *liveTask, fx *grid.Effects) {
	spec := l.job.spec
	busy, dialling := grid.Refusal{}, false
	for _, o := range l.excluded {
		if !o.why.Why.Never() && !o.preference {
			busy = o.why
		}
	}
	if n.fitsSelf(spec).Why == grid.WhyNone && !l.neverFits(n.cfg.Self) {
		if why := n.worker.Exec().Refuses(spec.Needs.Resources); why != grid.WhyNone {
			busy = grid.Refusal{Why: why}
		}
	}
	for _, g := range n.gossip.Peers() {
		if g.Ad == nil || l.neverFits(g.Ad.Node) || discovery.Fit(&spec.Needs, spec.Engine, g.Ad) != grid.WhyNone {
			continue
		}
		why, up := discovery.Now(&spec.Needs, g.Ad), n.isConnected(g.Ad.Node)
		if up && n.WouldExpose(g.Ad.Node, spec) {
			n.exclude(now, l, g.Ad.Node, grid.Refusal{Why: grid.WhyAccess})
			continue
		}
		if why.Why != grid.WhyNone && (up || now.Sub(g.Fresh()) < n.cfg.Gossip.Expire) {
			busy = why // a node that drained and left is expected back until the view drops others
		} else if !up {
			dialling = true
			n.dial(now, g.Ad.Node, fx)
		}
	}
	switch {
	case busy.Why != grid.WhyNone:
		n.pauseTask(now, l, busy, fx)
	case dialling && l.tries < 4:
		l.tries++
		n.waitFor(now, l, dialPause, grid.Refusal{Why: grid.WhyGone, Detail: "a node that fits is being dialled"}, fx)
	case n.hasUnknownPeers() && l.tries < 4:
		l.tries++
		n.waitFor(now, l, dialPause, grid.Refusal{Why: grid.WhyNobody, Detail: "a node that has just come has not yet said what it is"}, fx)
	case now < l.job.noSearchBefore:
		n.giveUp(now, l, fx)
	default:
		n.trace(l.task(), grid.Trace{At: now, What: grid.TraceSearch})
		l.search = n.discovery.Search(now, &spec.Needs, spec.Engine, n.gossip.Neighbours(), fx)
		n.waitFor(now, l, time.Hour, grid.Refusal{Why: grid.WhyNobody, Detail: "a search is under way"}, fx)
	}
}

// hasUnknownPeers reports whether a connected node has not sent its ad yet. A connected node outside the view is older,
// and was displaced there.
func (n *Node) hasUnknownPeers() bool {
	for _, p := range n.peers {
		if g := n.gossip.Peer(p.id); p.up && g != nil && g.Ad == nil {
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
func (n *Node) giveUp(now grid.Time, l *liveTask, fx *grid.Effects) {
	if l.job.spec.Wait {
		n.pauseTask(now, l, grid.Refusal{Why: grid.WhyNobody, Detail: clip(n.reasons(l))}, fx)
		return
	}
	r := &grid.Result{Cause: grid.Unplaceable, Exit: grid.ExitUnplaceable, Error: clip("nobody can run it: " + n.reasons(l))}
	if l.cannotExecute != nil {
		r = l.cannotExecute
	}
	l.phase = idle
	n.end(now, l.job, l.index, r, fx)
}

// reasons lists each known node's reason for not running the task.
func (n *Node) reasons(l *liveTask) string {
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
	add("this node", why(n.cfg.Self, n.gossip.Ad()))
	for _, g := range n.gossip.Peers() {
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
func (n *Node) bestKnown(needs *grid.Needs, engine string) *grid.Ad {
	if ad := n.selfIfFits(needs, engine); ad != nil || !n.cfg.Discovery.Ads {
		return ad
	}
	var best *gossip.Peer
	for _, g := range n.gossip.Peers() {
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
func (n *Node) selfIfFits(needs *grid.Needs, engine string) *grid.Ad {
	ad := n.gossip.Ad()
	if discovery.Match(needs, engine, ad).Why == grid.WhyNone && discovery.Now(needs, ad).Why == grid.WhyNone {
		return ad
	}
	return nil
}
