package node

import (
	"fmt"
	"slices"
	"time"

	"skep/grid"
)

const (
	probeRetry   = 500 * time.Millisecond // a candidate that has not answered by then may be replaced
	startupGrace = 3 * time.Second        // time after the start for known nodes to reconnect
)

// replicaKinds are the message kinds that a member of a register must support.
const replicaKinds = grid.KindSet(1<<grid.KindWrite | 1<<grid.KindCampaign | 1<<grid.KindKeepalive | 1<<grid.KindDeposit)

// beginSubmission accepts a valid submission: at once if this node alone has the job, else when its members are
// chosen.
func (n *Node) beginSubmission(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	if sub := n.pending.by.Get(ev.Job); sub != nil {
		sub.callers = append(sub.callers, ev.Caller)
		return
	}
	sub := &pendingSubmission{id: ev.Job, spec: ev.Spec, callers: []uint64{ev.Caller}, since: now}
	if n.cfg.Members > 1 {
		n.pending.add(sub)
		n.chooseMembers(now, nil, true, fx)
		return
	}
	n.createJob(now, sub, nil, fx)
}

// chooseMembers tries to choose the members of pending submissions: of those that have waited for probeRetry, of
// some, and of those without probes yet. If ask is set it probes more candidates for the rest.
func (n *Node) chooseMembers(now grid.Time, waiters []*pendingSubmission, ask bool, fx *grid.Effects) {
	for k := range n.pending.queues {
		if queue := &n.pending.queues[k]; len(queue.waiting) > 0 {
			n.chooseForQueue(now, queue, waiters, ask, fx)
		}
	}
}

func (n *Node) chooseForQueue(now grid.Time, queue *submissionQueue, waiters []*pendingSubmission, ask bool, fx *grid.Effects) {
	candidates := n.memberCandidates(queue == &n.pending.queues[1])
	alive := n.aliveNodes(now, candidates)
	for _, sub := range queue.waiting { // oldest first: none after one that still waits can succeed
		if !sub.done && (now < sub.since.Add(probeRetry) || !n.tryMembers(now, sub, candidates, alive, fx)) {
			break
		}
	}
	for _, sub := range waiters {
		if !sub.done && n.pending.queueOf(sub) == queue {
			n.tryMembers(now, sub, candidates, alive, fx)
		}
	}
	for len(queue.unprobed) > 0 && (queue.unprobed[0].done || n.tryMembers(now, queue.unprobed[0], candidates, alive, fx)) {
		queue.unprobed[0], queue.unprobed = nil, queue.unprobed[1:] // what does not suffice for the oldest does not for the others
	}
	if queue.trim(); len(queue.waiting) > 0 && ask {
		n.probeCandidates(now, queue, candidates, fx)
	}
}

// submissionTimer tries the pending submissions again.
func (n *Node) submissionTimer(now grid.Time, fx *grid.Effects) {
	n.pendingWake = false
	n.chooseMembers(now, n.pending.all(), true, fx)
	if len(n.pending.all()) == 0 {
		n.pending.clearAwaited()
	}
}

// tryMembers chooses the members of a submission if enough candidates have answered, and reports whether the
// submission is done. The register gets fewer members than configured only if too few nodes are connected, or if too
// few have answered after Config.Confirm.
func (n *Node) tryMembers(now grid.Time, sub *pendingSubmission, candidates, alive []*grid.Ad, fx *grid.Effects) bool {
	if len(candidates)+1 < n.cfg.Members && n.expectsMorePeers(now, sub.since, len(candidates)) {
		return false
	}
	late, answered := now >= sub.since.Add(n.cfg.Confirm), len(alive)
	alive = n.withQuotaLeft(alive, sub)
	want := min(n.cfg.Members, len(candidates)|1)
	if now < sub.since.Add(probeRetry) && len(sub.probed) > 0 {
		alive = slices.DeleteFunc(slices.Clone(alive), func(ad *grid.Ad) bool { return !slices.Contains(sub.probed, ad.Node) })
	}
	switch {
	case want < 3:
		n.createJob(now, sub, nil, fx)
	case len(alive) >= want-1:
		n.createJob(now, sub, n.spreadMembers(alive, want-1), fx)
	case late && len(alive) >= 2:
		n.createJob(now, sub, n.spreadMembers(alive, 2), fx)
	case late:
		for _, c := range sub.callers {
			fx.Reply(c, sub.id, fmt.Sprintf("job %s: was not taken: of the %d nodes connected to this one no two have said within %v that they will keep its record; "+
				"submit it again, perhaps to another node%s", sub.id.Short(), len(candidates), n.cfg.Confirm, quotaHint(answered-len(alive))))
		}
	default:
		return false
	}
	n.pending.remove(sub)
	return true
}

// probeCandidates sends keepalives to a few candidates to find live ones.
func (n *Node) probeCandidates(now grid.Time, queue *submissionQueue, candidates []*grid.Ad, fx *grid.Effects) {
	probed := n.spreadMembers(candidates, n.cfg.Members+1)
	for _, id := range probed {
		n.replicas.Probe(now, id, probeRetry, fx)
	}
	if len(probed) > 0 {
		for _, sub := range queue.unprobed { // oldest first, as in await
			if sub.done {
				continue
			}
			sub.probed = probed
			for _, id := range probed {
				n.pending.await(id, sub)
			}
		}
		queue.unprobed = nil
	}
	if !n.pendingWake {
		n.pendingWake = true
		fx.Wake(now.Add(probeRetry/2), grid.TimerRegister, pendingKey)
	}
}

// keepaliveAnswered takes a member's, or a candidate's, answer to a keepalive.
func (n *Node) keepaliveAnswered(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	a := n.replicas.KeepaliveAnswered(now, from, m, fx)
	if a.Forged {
		n.countOffence(from, fx)
	}
	if a.Alive {
		n.candidateAnswered(now, from, a.Revived, fx)
	}
	if a.Agrees {
		n.resumeJobs(now)
	}
}

// candidateAnswered continues with the pending submissions when a node proves alive. If it was not alive before, those
// that waited for it are tried.
func (n *Node) candidateAnswered(now grid.Time, from grid.NodeID, revived bool, fx *grid.Effects) {
	var waiters []*pendingSubmission
	if revived {
		waiters = n.pending.takeAwaiting(from)
	}
	n.chooseMembers(now, waiters, false, fx)
	for _, sub := range waiters {
		if !sub.done && now < sub.since.Add(probeRetry) {
			n.pending.await(from, sub)
		}
	}
}

// expectsMorePeers reports whether more nodes are about to connect: this node has just started and knew more, or a
// peer has not sent its ad yet.
func (n *Node) expectsMorePeers(now, since grid.Time, connected int) bool {
	if n.cfg.Known > connected && n.cfg.Known >= 2 && now < n.started.Add(startupGrace) {
		return true
	}
	return now < since.Add(2*probeRetry) && n.hasUnknownPeers()
}

// aliveNodes returns the candidates that are alive.
func (n *Node) aliveNodes(now grid.Time, candidates []*grid.Ad) (alive []*grid.Ad) {
	for _, ad := range candidates {
		if n.replicas.IsAlive(now, ad.Node) {
			alive = append(alive, ad)
		}
	}
	return alive
}

// memberCandidates returns the ads of connected nodes that can be members; with owner set only those that honour
// access: owner.
func (n *parts) memberCandidates(ownerOnly bool) (ads []*grid.Ad) {
	for _, p := range n.connected() {
		g := n.gossip.Peer(p.id)
		if g == nil || g.Ad == nil || g.Ad.Shut() || !p.mayReplicate || ownerOnly && !p.hidesJobs {
			continue
		}
		ads = append(ads, g.Ad)
	}
	return ads
}

// spreadMembers chooses up to most members, in random order, preferring at each step the node that shares the fewest
// failure domains (by labels) with this node and those chosen before.
func (n *Node) spreadMembers(ads []*grid.Ad, limit int) (ids []grid.NodeID) {
	ads = slices.Clone(ads)
	n.rng.Shuffle(len(ads), func(a, b int) { ads[a], ads[b] = ads[b], ads[a] })
	taken := []*grid.Ad{n.gossip.Ad()}
	for len(ads) > 0 && len(ids) < limit {
		best, least := 0, 1<<30
		for k, ad := range ads {
			same := 0
			for _, t := range taken {
				same += sharedDomains(ad, t)
			}
			if same < least {
				best, least = k, same
			}
		}
		ids, taken = append(ids, ads[best].Node), append(taken, ads[best])
		ads = slices.Delete(ads, best, best+1)
	}
	return ids
}

// sharedDomains counts the failure domains that two nodes share: equal labels host, rack, zone.
func sharedDomains(a, b *grid.Ad) (n int) {
	for _, key := range [...]string{"host", "rack", "zone"} {
		x, ok := a.Label(key)
		if y, _ := b.Label(key); ok && x == y {
			n++
		}
	}
	return n
}

// createJob creates a job; this node has less room for other work from now on.
func (n *Node) createJob(now grid.Time, sub *pendingSubmission, others []grid.NodeID, fx *grid.Effects) {
	n.create(now, sub, others, fx)
	n.profile.Changed(now, fx)
}
