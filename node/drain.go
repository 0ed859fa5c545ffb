package node

import (
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
	Unsaved int // results and hand-backs not yet acknowledged by connected owners
	Own     int // unfinished jobs that only this node can finish
}

// Over reports whether the node may be stopped for good without delaying anybody's work.
func (v *DrainView) Over() bool { return v.On && v.Queued+v.Running+v.Unsaved+v.Own == 0 }

// Drain returns the progress of this node's drain.
func (n *Node) Drain(now grid.Time) DrainView {
	here := n.worker.Exec()
	v := DrainView{On: here.Draining(), Queued: here.Queued(), Running: len(here.Running()) + here.Stopping()}
	if !v.On {
		return v
	}
	v.Left, v.Unsaved = max(n.worker.DrainUntil().Sub(now), 0), n.worker.Unacked()
	v.Own = n.coordinator.OnlyHere(now)
	return v
}

// setClosed applies the driver's report that the disk is nearly full, or that what runs tasks elsewhere takes none, or
// no longer so.
func (n *Node) setClosed(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	n.peers.Policies().ColumnsChanged()
	if ev.Kind == grid.EvDisk {
		n.worker.SetLowDisk(ev.Low)
		n.coordinator.LowDisk(ev.Low)
		n.profile.SetLowDisk(now, ev.Low, fx)
		return
	}
	n.worker.SetAway(ev.Low)
	n.profile.SetAway(now, ev.Low, fx)
	n.coordinator.TryHere()
}

// startDraining stops accepting work, hands back queued attempts, and gives running ones until the deadline.
func (n *Node) startDraining(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	n.worker.Drain(now, now.Add(min(max(ev.Within, 0), MaxDrain)), fx)
	n.peers.Policies().ColumnsChanged()
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
		n.peers.Policies().ColumnsChanged()
		n.announceDrain(now, fx)
		n.coordinator.TryHere()
	}
	fx.Reply(ev.Caller, grid.JobID{}, "")
}
