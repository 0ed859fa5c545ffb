package node

import (
	"slices"
	"time"

	"skep/grid"
)

// MaxDrain bounds the time that a drain gives to running tasks.
const MaxDrain = 30 * 24 * time.Hour

// DrainView is the progress of a drain.
type DrainView struct {
	On      bool
	Left    time.Duration // until running tasks are stopped; 0 = that time has passed
	Queued  int           // attempts whose owners are disconnected: handed back when they connect
	Running int
	Unsaved int // results not yet acknowledged by connected owners
	Own     int // unfinished jobs that only this node can finish
}

// Over reports whether the node may be stopped for good without delaying anybody's work.
func (v *DrainView) Over() bool { return v.On && v.Queued+v.Running+v.Unsaved+v.Own == 0 }

// Drain returns the progress of this node's drain.
func (n *Node) Drain(now grid.Time) DrainView {
	here := n.worker.Exec()
	v := DrainView{On: here.Draining(), Queued: len(here.Queue()), Running: len(here.Running()) + here.Stopping()}
	if !v.On {
		return v
	}
	v.Left, v.Unsaved = max(n.worker.DrainUntil().Sub(now), 0), n.worker.Unacked()
	for j := range n.jobs.All() {
		if j.authoritative() && j.counts[grid.Ended]-j.uncommitted < j.count() && !n.survivesLeaving(now, j) {
			v.Own++
		}
	}
	return v
}

// survivesLeaving reports whether other members can finish a job without this node: a majority of its register
// answers, and a majority of its members has the inputs.
func (c *coordinator) survivesLeaving(now grid.Time, j *job) bool {
	return len(j.replica.Members()) > 2 && c.mayAct(now, j) && j.replica.files.InputsSafe()
}

// setLowDisk applies the driver's report that the disk is nearly full, or no longer so.
func (n *Node) setLowDisk(now grid.Time, low bool, fx *grid.Effects) {
	n.worker.SetLowDisk(low)
	n.deposits.LowDisk(low)
	n.policies.ColumnsChanged()
	n.profile.SetLowDisk(now, low, fx)
}

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

// startDraining stops accepting work, hands back queued attempts, and gives running ones until the deadline.
func (n *Node) startDraining(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	n.worker.Drain(now, now.Add(min(max(ev.Within, 0), MaxDrain)), fx)
	n.policies.ColumnsChanged()
	n.announceDrain(now, fx)
	fx.Reply(ev.Caller, grid.JobID{}, "")
}

// stopDraining accepts work again.
func (n *Node) stopDraining(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	switch {
	case n.worker.Leaving():
		fx.Reply(ev.Caller, grid.JobID{}, "the node is stopping")
		return
	case n.worker.Exec().Draining():
		n.worker.Undrain(now, fx)
		n.policies.ColumnsChanged()
		n.announceDrain(now, fx)
		for _, l := range slices.Clone(n.live.waiting.list) { // waiting tasks may fit this node now
			l.excluded = slices.DeleteFunc(l.excluded, refusedDraining(n.cfg.Self))
			if l.search == 0 {
				n.resumeTask(l)
			}
		}
		for _, j := range n.queue.awaitingMajority {
			for _, l := range j.replica.awaitingMajority {
				l.excluded = slices.DeleteFunc(l.excluded, refusedDraining(n.cfg.Self))
			}
		}
	}
	fx.Reply(ev.Caller, grid.JobID{}, "")
}

// refusedDraining matches the exclusions of a node that refused because it drained.
func refusedDraining(id grid.NodeID) func(exclusion) bool {
	return func(o exclusion) bool { return o.node == id && o.why.Why == grid.WhyDrain }
}

// isConnected reports whether a node is this node or connected.
func (n *parts) isConnected(id grid.NodeID) bool {
	q := n.peers.get(id)
	return id == n.cfg.Self || q != nil && q.up
}
