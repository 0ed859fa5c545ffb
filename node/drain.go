package node

import (
	"slices"
	"time"

	"skep/exec"
	"skep/grid"
)

// MaxDrain bounds the time that running tasks are given when a node drains.
const MaxDrain = 30 * 24 * time.Hour

// DrainView says how far a draining node has come.
type DrainView struct {
	On      bool
	Left    time.Duration // until what runs is stopped; 0 = it has been
	Queued  int           // attempts of nodes that are not connected now: they are handed back when they are
	Running int
	Unsaved int // results that connected nodes have not acknowledged yet
	Own     int // unfinished jobs that this node alone can bring to their end
}

// Over reports whether the node may be stopped and stay away without anybody's work waiting for it.
func (v *DrainView) Over() bool { return v.On && v.Queued+v.Running+v.Unsaved+v.Own == 0 }

// Drain returns how far this node has come with draining.
func (n *Node) Drain(now grid.Time) DrainView {
	v := DrainView{On: n.exec.Draining(), Queued: len(n.exec.Queue()), Running: len(n.exec.Running()) + n.exec.Stopping()}
	if !v.On {
		return v
	}
	v.Left = max(n.drainUntil.Sub(now), 0)
	for _, w := range n.exec.Finished() {
		if n.isConnected(n.ownerOf(w.ID.Task.Job)) {
			v.Unsaved++
		}
	}
	for j := range n.jobs.all() {
		if j.authoritative() && j.counts[grid.Ended]-j.uncommitted < j.count() && !n.survivesLeaving(now, j) {
			v.Own++
		}
	}
	return v
}

// survivesLeaving reports whether others bring a job to its end when this node goes: a majority of its register answers, and
// a majority of its members has its inputs.
func (n *Node) survivesLeaving(now grid.Time, j *job) bool {
	return j.replica != nil && len(j.replica.reg.Members()) > 2 && n.mayAct(now, j) && (j.replica.inputs == nil || j.replica.inputs.hasMajority(j.replica.reg))
}

// setLowDisk notes that there is little room left on the disk, or enough again.
func (n *Node) setLowDisk(now grid.Time, low bool, fx *grid.Effects) {
	n.lowDisk = low
	n.exec.LowDisk(low)
	n.rates.stale = true
	n.adChanged(now, fx)
}

// handleDrain handles what is said to a node that is to stop, now or later.
func (n *Node) handleDrain(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	switch ev.Kind {
	case grid.EvLeave:
		n.announceLeave(now, fx)
	case grid.EvDrain:
		n.startDraining(now, ev, fx)
	case grid.EvUndrain:
		n.stopDraining(now, ev, fx)
	}
}

// startDraining makes the node take nothing new, hands back what has not started, and gives what runs a time to end.
func (n *Node) startDraining(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	n.exec.Drain(true)
	n.drainUntil = now.Add(min(max(ev.Within, 0), MaxDrain))
	fx.Wake(n.drainUntil, grid.TimerDrain, 0)
	n.rates.stale = true
	n.announceDrain(now, fx)
	n.handBackQueue(now, fx)
	fx.Reply(ev.Caller, grid.JobID{}, "")
}

// stopDraining makes the node take work again.
func (n *Node) stopDraining(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	switch {
	case n.leaving:
		fx.Reply(ev.Caller, grid.JobID{}, "the node is stopping")
		return
	case n.exec.Draining():
		n.exec.Drain(false)
		n.rates.stale = true
		n.announceDrain(now, fx)
		for _, l := range slices.Clone(n.waiting) { // they waited for somebody, and that may be this node
			l.excluded = slices.DeleteFunc(l.excluded, refusedDraining(n.cfg.Self))
			if l.search == 0 {
				n.resumeTask(l)
			}
		}
		for _, j := range n.awaitingMajority {
			for _, l := range j.replica.awaitingMajority {
				l.excluded = slices.DeleteFunc(l.excluded, refusedDraining(n.cfg.Self))
			}
		}
		n.startReady(now, fx)
	}
	fx.Reply(ev.Caller, grid.JobID{}, "")
}

// refusedDraining tells what a node refused because it drained.
func refusedDraining(id grid.NodeID) func(exclusion) bool {
	return func(o exclusion) bool { return o.node == id && o.why.Why == grid.WhyDrain }
}

// announceDrain tells everybody at once, and not only as far as the dissemination rule has it.
func (n *Node) announceDrain(now grid.Time, fx *grid.Effects) {
	n.lastAd = now
	n.gossip.Advertise(now, n.newAd(now), fx)
	m := fx.Announce(grid.KindBye)
	m.Digest = append(m.Digest, grid.AdEntry{Ad: n.gossip.Ad()})
}

// handBackQueue gives back what has not started: to others as a refusal, for it never ran, and this node's own to be placed
// elsewhere. What belongs to a node that is not connected waits until it is: unheard, the word would pass for a loss.
func (n *Node) handBackQueue(now grid.Time, fx *grid.Effects) {
	if !n.exec.Draining() || n.leaving {
		return
	}
	for _, w := range slices.Clone(n.exec.Queue()) {
		if !n.isConnected(n.ownerOf(w.ID.Task.Job)) {
			continue
		}
		n.giveBack(now, w, grid.Refusal{Why: grid.WhyDrain}, fx)
	}
}

// isConnected reports whether a node can be told something now.
func (n *Node) isConnected(id grid.NodeID) bool {
	q := n.peers.get(id)
	return id == n.cfg.Self || q != nil && q.up
}

// drainDeadline stops what still runs when its time is over: it is lost here, and runs again elsewhere if its job allows.
func (n *Node) drainDeadline(now grid.Time, fx *grid.Effects) {
	if !n.exec.Draining() || n.leaving || now < n.drainUntil {
		return
	}
	n.handBackQueue(now, fx)
	for _, w := range slices.Clone(n.exec.Running()) {
		n.stopAttempt(now, w, "the node was drained, and the task ran on beyond the time that it was given", fx)
	}
}

// stopAttempt stops a running attempt and reports it as lost.
func (n *Node) stopAttempt(now grid.Time, w *exec.Work, why string, fx *grid.Effects) {
	id := w.ID
	fx.Stops = append(fx.Stops, grid.Stop{Attempt: id})
	n.keepResult(now, id, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep, Error: why}, true, fx)
}
