package coordinator

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/grid"
	"skep/node/peers"
)

// candidates returns the nodes that the task may be offered to, as known without a poll, except those polled in this
// decision. It falls back in two steps when nobody else is left: first to nodes that it otherwise avoids for this task
// (an attempt failed, was lost or was demoted there, or they must deliver first after a reclaim), then to blacklisted
// nodes. onProbation counts the nodes that fit but were left out at the last step: on probation or backing off.
func (c *Coordinator) candidates(now grid.Time, l *liveTask) (v balance.View, onProbation int) {
	l.Expire(now)
	l.tryBlacklisted = l.tryBlacklisted && len(l.polled) > 0
	if c.isLocal(l.job.spec) {
		return c.eligibleNodes(now, l, false, false)
	}
	v, onProbation = c.eligibleNodes(now, l, true, true)
	if len(v.Nodes) == 0 && (l.Prefers() || len(l.demotions) > 0 || l.reclaims > 0 || onProbation > 0) {
		v, onProbation = c.eligibleNodes(now, l, true, false)
	}
	if len(v.Nodes) == 0 && c.peers.HasBlacklist(l.class()) && onProbation == 0 && len(l.polled) == 0 &&
		l.Latest().Why == grid.WhyNone {
		l.tryBlacklisted = true
		v, onProbation = c.eligibleNodes(now, l, false, false)
	}
	return v, onProbation
}

// hasCandidate reports whether there is a node that the task may be offered to.
func (c *Coordinator) hasCandidate(now grid.Time, l *liveTask) bool {
	v, _ := c.candidates(now, l)
	return len(v.Nodes) > 0
}

// isLocal reports whether the job's tasks run only on this node (policy "local"). Such a task waits for this node
// even after it failed here.
func (c *Coordinator) isLocal(s *grid.JobSpec) bool { return cmp.Or(s.Policy, c.cfg.Policy) == "local" }

// moreCandidates returns the candidates for another poll. It leaves out one that needs no poll and has answered: its
// answer would be the same, immediately, in an endless loop.
func (c *Coordinator) moreCandidates(now grid.Time, l *liveTask) balance.View {
	v, _ := c.candidates(now, l)
	v.Nodes = slices.DeleteFunc(v.Nodes, func(s balance.State) bool {
		return s.Answer && slices.ContainsFunc(l.answers, func(a balance.State) bool { return a.Node == s.Node })
	})
	return v
}

// eligibleNodes returns the candidates, without those on the blacklist if it is heeded, and how many were left out
// because they are on probation or backing off; strict as in Excludes.
func (c *Coordinator) eligibleNodes(now grid.Time, l *liveTask, heedBlacklist, strict bool) (v balance.View,
	onProbation int) {
	n := peers.Need{Spec: l.job.spec, Class: l.class(), Level: l.level(), Foreign: !c.isOrigin(l.job.id),
		Strict: strict, Delivered: strict && l.reclaims > 0, Blacklisted: !heedBlacklist, Excluded: l,
		Fetch: c.isMapped(l.job), Trades: balance.Trades(cmp.Or(l.job.spec.Policy, c.cfg.Policy))}
	v = balance.View{Self: c.cfg.Self, Home: c.peers.Home()}
	v.Nodes, onProbation = c.peers.Eligible(now, &n, c.scratch.view[:0])
	c.scratch.view = v.Nodes
	return v, onProbation
}

// Excludes implements [peers.Excluded]: it reports whether a task must not be offered to a node, or has polled it in
// this decision. If strict it also excludes nodes on which the task failed or which demoted it, and preferences.
func (l *liveTask) Excludes(id grid.NodeID, strict bool) bool {
	return l.excludes(id, strict) || slices.Contains(l.polled, id)
}

// excludes reports the same of all decisions.
func (l *liveTask) excludes(id grid.NodeID, strict bool) bool {
	return strict && (l.HasFailedOn(id) || l.demotions.By(id)) || l.ExcludesNode(id, strict)
}

// barred appends nodes that would not be offered the task if they pulled it from the queue where it waits: they did so
// in vain, it failed there, or they cannot run it, or its class is failing there. Not those whose back-off ends: these
// are kept with the offer, and the owner decides when the task is handed back.
func (c *Coordinator) barred(l *liveTask, dst []grid.NodeID) []grid.NodeID {
	add := func(id grid.NodeID) {
		if !id.IsZero() && !slices.Contains(dst, id) && len(dst) < grid.MaxBarred {
			dst = append(dst, id)
		}
	}
	for _, id := range l.vain {
		add(id)
	}
	for id := range l.Unfit() {
		add(id)
	}
	for id := range c.peers.Blacklist(l.class()) {
		add(id)
	}
	return dst
}

// FitsSelf returns why this node could never run the job's tasks; WhyNone if it could.
func (c *Coordinator) FitsSelf(spec *grid.JobSpec) grid.Refusal {
	return discovery.Match(&spec.Needs, spec.Engine, c.gossip.Ad())
}

// exclude stops offers of a task to a node: for ever if the node can never run it, else for a time that doubles with
// the task's tries, from 1 s to 30 s.
func (c *Coordinator) exclude(now grid.Time, l *liveTask, id grid.NodeID, why grid.Refusal) {
	until := grid.Never
	if !why.Why.Never() || why.Why == grid.WhyAccess { // the node may be upgraded
		until = now.Add(min(time.Second<<min(l.tries, 5), 30*time.Second))
	}
	c.trace(l.task(), grid.Trace{At: now, What: grid.TraceRefused, Node: id, Refusal: why, Asked: int32(len(l.polled))})
	l.Exclude(id, why, until)
}

// dropBlacklisted removes the answers of nodes that were blacklisted since the poll, or are being probed by another
// task. Tasks that run only here are exempt: they have no other answer.
func (c *Coordinator) dropBlacklisted(now grid.Time, l *liveTask) {
	if class := l.class(); c.peers.HasBlacklist(class) && !l.tryBlacklisted && !c.isLocal(l.job.spec) {
		l.answers = slices.DeleteFunc(l.answers, func(s balance.State) bool { return c.peers.Excludes(now, class, s.Node) })
	}
}

// maxTracedExclusions bounds the blacklisted nodes in a task's trace.
const maxTracedExclusions = 3

// traceBlacklisted records, once per task, which nodes were blacklisted.
func (c *Coordinator) traceBlacklisted(now grid.Time, l *liveTask) {
	if !c.peers.HasBlacklist(l.class()) || l.blacklistTraced {
		return
	}
	left := maxTracedExclusions
	for id, why := range c.peers.Blacklist(l.class()) {
		if left == 0 {
			return
		}
		c.trace(l.task(), grid.Trace{At: now, What: grid.TraceRefused, Node: id, Refusal: why})
		left--
		l.blacklistTraced = true
	}
}

// countFailedNode records that a task failed on a node. It returns the reason if the task ends now, "" if it goes on.
func (c *Coordinator) countFailedNode(l *liveTask, id grid.NodeID, why grid.Refusal) string {
	l.Fail(id, why)
	return c.strikesOut(l)
}

// countLosingNode is countFailedNode of the node that lost the attempt. The task may come back to it after a back-off,
// once, unless that could be its last attempt.
func (c *Coordinator) countLosingNode(now grid.Time, l *liveTask, why grid.Refusal) string {
	if t := l.task(); why.Why != grid.WhyLost || l.prepareFailures > 0 || t.lost >= l.job.spec.Retries {
		l.Fail(t.worker, why)
	} else {
		l.LoseOnce(t.worker, why, now.Add(c.peers.LossBackoff(now, t.worker, c.cfg.Lease)))
	}
	return c.strikesOut(l)
}

// strikesOut returns why a task ends that failed on too many nodes; "" = it goes on.
func (c *Coordinator) strikesOut(l *liveTask) string {
	return clip(l.StruckOut(c.cfg.Strikes, c.peers.Name))
}

// candidate returns what is expected of a node as a candidate for a task that is decided anew; nil = it is none.
func (c *Coordinator) candidate(now grid.Time, l *liveTask, id grid.NodeID) *balance.State {
	polled := l.polled
	l.polled = nil
	v, _ := c.candidates(now, l)
	l.polled = polled
	return v.Find(id)
}

// SearchDone resumes the tasks that waited for a search.
func (c *Coordinator) SearchDone(now grid.Time, f discovery.Found, fx *grid.Effects) {
	if f.Ad != nil {
		c.peers.Dial(now, f.Ad.Node, fx)
		c.readmit(now, f.Ad, fx)
	}
	c.gangSearchDone(now, &f, fx)
	for _, l := range slices.Clone(c.live.waiting.list) {
		if l.search != f.ID || l.phase != waiting {
			continue
		}
		l.search = 0
		if f.Ad != nil {
			c.trace(l.task(), grid.Trace{At: now, What: grid.TraceSearch, Node: f.Ad.Node,
				Refusal: grid.Refusal{Detail: c.searchMethod(&f)}})
		}
		if f.Ad == nil || l.NeverFits(f.Ad.Node) { // another search would find the same node
			l.job.noSearchBefore = now.Add(searchRetryAfter)
		} else if why := c.notReady(f.Ad.Node, l.job.spec); why != "" {
			if l.tries++; l.tries > maxDials {
				l.job.noSearchBefore = now.Add(searchRetryAfter)
			}
			c.dequeue(l)
			c.waitFor(now, l, dialPause, grid.Refusal{Why: grid.WhyGone, Detail: why}, fx)
			continue
		}
		l.lookAgain = true // other tasks of its job may wait for this one
		c.resumeTask(l)
	}
}

// readmit puts a connected node that a search found back into the view if newer peers have displaced it: only nodes in
// the view can be given tasks, and the same search would find the same node again.
func (c *Coordinator) readmit(now grid.Time, ad *grid.Ad, fx *grid.Effects) {
	if c.peers.Connected(ad.Node) && c.gossip.Peer(ad.Node) == nil {
		c.gossip.Up(now, ad.Node, 0, fx)
		c.gossip.Hear(now, c.cfg.Self, []grid.AdEntry{{Ad: ad}}, fx, c.AdNews(now))
	}
}

// notReady returns why tasks cannot yet be placed on a node that a search found; "" = they can. The view may know newer
// facts than the search.
func (c *Coordinator) notReady(id grid.NodeID, spec *grid.JobSpec) string {
	if !c.peers.Connected(id) {
		return "a node that fits is being dialled"
	}
	if g := c.gossip.Peer(id); !c.peers.TakesWork(id) || g == nil || g.Ad == nil ||
		discovery.Fit(&spec.Needs, spec.Engine, g.Ad) != grid.WhyNone {
		return "a node that was found says that it does not fit"
	}
	return ""
}

// searchMethod describes how a node was found.
func (c *Coordinator) searchMethod(f *discovery.Found) string {
	if f.Called {
		return "by a call"
	}
	return fmt.Sprintf("hops: %d, by %s", f.Hops, c.discovery.Forward())
}

// Blacklisted returns the reason why a node gets no task of a class now; WhyNone if it may.
func (v Views) Blacklisted(now grid.Time, class string, id grid.NodeID) grid.Refusal {
	return v.c.peers.Blacklisted(now, class, id)
}

// Backoff returns the back-off of a node, as this one has it now for a class.
func (v Views) Backoff(now grid.Time, class string, id grid.NodeID) peers.Backoff {
	return v.c.peers.Backoff(now, class, id)
}

// WouldExpose reports whether a known peer would show the job to callers who may not see it.
func (v Views) WouldExpose(id grid.NodeID, spec *grid.JobSpec) bool {
	return spec.Access() == grid.AccessOwner && !v.c.peers.HidesJobs(id)
}
