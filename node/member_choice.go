package node

import (
	"fmt"
	"slices"
	"time"

	"skep/grid"
	"skep/register"
)

const (
	canvassRetry = 500 * time.Millisecond // who has not answered by then may be replaced by somebody else
	startupGrace = 3 * time.Second        // after a start, in which nodes known from before are connected again
)

// replicaKinds are the kinds that a member of a register must understand.
const replicaKinds = grid.KindSet(1<<grid.KindWrite | 1<<grid.KindCampaign | 1<<grid.KindKeepalive | 1<<grid.KindDeposit)

// beginSubmission takes a checked submission on: at once if this node alone keeps it, else as soon as its members are chosen.
func (n *Node) beginSubmission(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	if f := n.pending.by.get(ev.Job); f != nil {
		f.callers = append(f.callers, ev.Caller)
		return
	}
	f := &pendingSubmission{id: ev.Job, spec: ev.Spec, callers: []uint64{ev.Caller}, since: now}
	if n.cfg.Members > 1 {
		n.pending.add(f)
		n.chooseMembers(now, nil, true, fx)
		return
	}
	n.createUnreplicated(now, f, fx)
}

// chooseMembers chooses members for those of some submissions for which enough nodes have answered, for those for which whoever answers will do, because
// they have waited for long or nobody was asked for them; and asks more nodes where that did not take them all.
func (n *Node) chooseMembers(now grid.Time, some []*pendingSubmission, ask bool, fx *grid.Effects) {
	for k := range n.pending.queues {
		if line := &n.pending.queues[k]; len(line.waiting) > 0 {
			n.chooseForQueue(now, line, some, ask, fx)
		}
	}
}

func (n *Node) chooseForQueue(now grid.Time, line *submissionQueue, some []*pendingSubmission, ask bool, fx *grid.Effects) {
	up := n.memberCandidates(line == &n.pending.queues[1])
	alive := n.aliveNodes(now, up)
	for _, f := range line.waiting { // oldest first: to those after one that still waits nothing has happened
		if !f.done && (now < f.since.Add(canvassRetry) || !n.tryMembers(now, f, up, alive, fx)) {
			break
		}
	}
	for _, f := range some {
		if !f.done && n.pending.queueOf(f) == line {
			n.tryMembers(now, f, up, alive, fx)
		}
	}
	for len(line.unasked) > 0 && (line.unasked[0].done || n.tryMembers(now, line.unasked[0], up, alive, fx)) {
		line.unasked[0], line.unasked = nil, line.unasked[1:] // what does not suffice for the oldest does not for the others
	}
	if line.trim(); len(line.waiting) > 0 && ask {
		n.probeCandidates(now, line, up, fx)
	}
}

// tryMembers chooses the members of a submission if enough nodes have answered, and reports whether that is over. Fewer members than are wanted
// are taken only where too few nodes are connected.
func (n *Node) tryMembers(now grid.Time, f *pendingSubmission, up, alive []*grid.Ad, fx *grid.Effects) bool {
	if len(up)+1 < n.cfg.Members && n.expectsMorePeers(now, f.since, len(up)) {
		return false
	}
	late, there := now >= f.since.Add(n.cfg.Confirm), len(alive)
	alive = n.withQuotaLeft(alive, f)
	want := min(n.cfg.Members, len(up)|1)
	if now < f.since.Add(canvassRetry) && len(f.probed) > 0 {
		alive = slices.DeleteFunc(slices.Clone(alive), func(ad *grid.Ad) bool { return !slices.Contains(f.probed, ad.Node) })
	}
	switch {
	case want < 3:
		n.createUnreplicated(now, f, fx)
	case len(alive) >= want-1:
		n.createReplicated(now, f, n.spreadMembers(alive, want-1), fx)
	case late && len(alive) >= 2:
		n.createReplicated(now, f, n.spreadMembers(alive, 2), fx)
	case late:
		for _, c := range f.callers {
			fx.Reply(c, f.id, fmt.Sprintf("job %s: was not taken: of the %d nodes connected to this one no two have said within %v that they will keep its record; "+
				"submit it again, perhaps to another node%s", f.id.Short(), len(up), n.cfg.Confirm, quotaHint(there-len(alive))))
		}
	default:
		return false
	}
	n.pending.remove(f)
	return true
}

// probeCandidates asks some nodes whether they live.
func (n *Node) probeCandidates(now grid.Time, line *submissionQueue, up []*grid.Ad, fx *grid.Effects) {
	asked := n.spreadMembers(up, n.cfg.Members+1)
	for _, id := range asked {
		if p := n.coMember(id); p.keepaliveSeq == 0 || now >= p.keepaliveSent.Add(canvassRetry) {
			n.sendKeepalive(now, p, n.ownedWith(id), fx)
		}
	}
	if len(asked) > 0 {
		for _, f := range line.unasked { // oldest first, as they are awaited
			if f.done {
				continue
			}
			f.probed = asked
			for _, id := range asked {
				n.coMember(id).addPending(f)
			}
		}
		line.unasked = nil
	}
	if !n.pendingWake {
		n.pendingWake = true
		fx.Wake(now.Add(canvassRetry/2), grid.TimerRegister, pendingKey)
	}
}

// candidateAnswered notes that a node has answered a watch. What waits for that was last looked at when it had been silent for long, or never.
func (n *Node) candidateAnswered(now grid.Time, p *coMember, fx *grid.Effects) {
	var some []*pendingSubmission
	if !n.isAlive(now, p) {
		some, p.pending = p.pending, nil
	}
	p.lastAlive = now
	n.chooseMembers(now, some, false, fx)
	for _, f := range some {
		if !f.done && now < f.since.Add(canvassRetry) {
			p.addPending(f)
		}
	}
}

// isAlive reports whether a node has answered a watch just now.
func (n *Node) isAlive(now grid.Time, p *coMember) bool {
	return p.lastAlive > 0 && now < p.lastAlive.Add(n.cfg.Lease/3)
}

// expectsMorePeers reports whether more nodes are about to be connected: this one has just started and knew more, or somebody has
// not yet said what it is.
func (n *Node) expectsMorePeers(now, since grid.Time, up int) bool {
	if n.cfg.Known > up && n.cfg.Known >= 2 && now < n.started.Add(startupGrace) {
		return true
	}
	return now < since.Add(2*canvassRetry) && n.hasUnknownPeers()
}

// aliveNodes lists those that have just answered.
func (n *Node) aliveNodes(now grid.Time, up []*grid.Ad) (alive []*grid.Ad) {
	for _, ad := range up {
		if p := n.coMembers.by.get(ad.Node); p != nil && n.isAlive(now, p) {
			alive = append(alive, ad)
		}
	}
	return alive
}

// memberCandidates lists the connected nodes that can be members, of a job that only its owner may see those that keep to that.
func (n *Node) memberCandidates(owner bool) (ads []*grid.Ad) {
	for _, p := range n.connected() {
		g := n.gossip.Peer(p.id)
		if g == nil || g.Ad == nil || g.Ad.Shut() || !p.mayReplicate || owner && !p.hidesJobs {
			continue
		}
		ads = append(ads, g.Ad)
	}
	return ads
}

// spreadMembers chooses some of them, in the order in which they are wanted: those first that share least with the ones
// before, by the labels that say where a machine stands; the rest is chance.
func (n *Node) spreadMembers(ads []*grid.Ad, most int) (ids []grid.NodeID) {
	ads = slices.Clone(ads)
	n.rng.Shuffle(len(ads), func(a, b int) { ads[a], ads[b] = ads[b], ads[a] })
	taken := []*grid.Ad{n.gossip.Ad()}
	for len(ads) > 0 && len(ids) < most {
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

// sharedDomains counts the places that two nodes share, as far as their labels say.
func sharedDomains(a, b *grid.Ad) (n int) {
	for _, key := range [...]string{"host", "rack", "zone"} {
		x, ok := a.Label(key)
		if y, _ := b.Label(key); ok && x == y {
			n++
		}
	}
	return n
}

// createUnreplicated takes a submission on that this node alone keeps.
func (n *Node) createUnreplicated(now grid.Time, f *pendingSubmission, fx *grid.Effects) {
	j := n.newJob(f.id, f.spec, n.wall.At(now).UnixNano())
	n.queueNewJob(now, j, fx)
	n.saveJob(j, fx)
	n.replyAll(&f.callers, j.id, fx)
	n.adChanged(now, fx)
}

// createReplicated makes the register of a submission. Its caller is answered when a majority holds it.
func (n *Node) createReplicated(now grid.Time, f *pendingSubmission, others []grid.NodeID, fx *grid.Effects) {
	members := append([]grid.NodeID{n.cfg.Self}, others...)
	j := n.newReplica(f.id, f.spec, n.wall.At(now).UnixNano(), members, register.State{})
	j.replica.submitters, j.replica.confirmBy, j.replica.provisional, j.replica.membersVerified = f.callers, f.since.Add(n.cfg.Confirm), true, true
	n.ownerTerms++
	j.replica.reg.BecomeOwner(n.cfg.Boot<<40 | n.ownerTerms<<20)
	s := j.replica.reg.State()
	j.replica.owner, j.replica.epoch, j.replica.ownerSince = s.Owner, s.Epoch, j.submitted
	n.queueNewJob(now, j, fx)
	n.replicateInputs(now, j)
	n.saveReplica(j, fx)
	n.markDirty(j)
	n.scheduleTick(now, fx)
	n.adChanged(now, fx)
}

// queueNewJob lets a new job's tasks be placed.
func (n *Node) queueNewJob(now grid.Time, j *job, fx *grid.Effects) {
	j.arrived = now
	n.enqueueJob(j)
	n.rates.arrive(now, j.spec, j.class, int(j.spec.Count))
}
