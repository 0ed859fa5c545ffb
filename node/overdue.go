package node

import (
	"time"

	"skep/discovery"
	"skep/exec"
	"skep/grid"
)

// maxHandedBack bounds the attempts handed back at once; the rest follows at the next check.
const maxHandedBack = 64

// wakeOverdue sets the timer for the next check of overdue work. A node with an empty queue has no such timer.
func (n *Node) wakeOverdue(now grid.Time, fx *grid.Effects) {
	if n.cfg.Overdue > 0 && !n.overdueWake && len(n.exec.Queue()) > 0 {
		n.overdueWake = true
		fx.Wake(now.Add(n.cfg.Overdue), grid.TimerOverdue, 0)
	}
}

// returnOverdue hands work that has waited here far longer than expected back to its owner, as much of it as other
// nodes have room for: the estimate that placed it here was wrong. The work never ran, so this is a refusal and not a
// loss, and placing it again is a new attempt. Work without retries stays unless this node is its owner: if the refusal
// were lost in transit, the attempt would count as lost.
func (n *Node) returnOverdue(now grid.Time, fx *grid.Effects) {
	var late []*exec.Work
	for _, w := range n.exec.Queue() {
		if len(late) == maxHandedBack {
			break
		}
		waited := now.Sub(w.Accepted)
		if waited < max(n.cfg.Overdue, 2*min(w.Expected, time.Hour)) || n.ownerOf(w.ID.Task.Job) != n.cfg.Self && w.Spec.Retries == 0 {
			continue
		}
		late = append(late, w)
	}
	room := make(map[grid.NodeID]grid.Resources)
	for _, w := range late {
		if n.idleNodeFits(w, room) {
			n.giveBack(now, w, grid.Refusal{Why: grid.WhyOverdue}, fx)
		}
	}
	n.wakeOverdue(now, fx)
}

// idleNodeFits looks for a connected node that fits and is idle according to its newest ad, and reserves the needs of
// the work in room.
func (n *Node) idleNodeFits(w *exec.Work, room map[grid.NodeID]grid.Resources) bool {
	need := &w.Spec.Needs
	for _, p := range n.connected() {
		g := p.view
		if g.Ad == nil || g.Ad.Backlog > 0 || g.Ad.Closed() || discovery.Fit(need, w.Spec.Engine, g.Ad) != grid.WhyNone {
			continue
		}
		free, seen := room[p.id]
		if !seen {
			free = g.Ad.Free
		}
		if free.Fits(need.Resources) {
			room[p.id] = free.Minus(need.Resources)
			return true
		}
	}
	return false
}

// giveBack drops a waiting attempt and tells its owner why.
func (n *Node) giveBack(now grid.Time, w *exec.Work, why grid.Refusal, fx *grid.Effects) {
	id := w.ID
	to, stone := n.ownerOf(id.Task.Job), tombstone{id, n.isHearsay(id.Task.Job)}
	n.forgetAttempt(now, id, fx)
	n.neverRan.add(stone)
	m := fx.Send(to, grid.KindRefuse)
	m.Attempts, m.Refusal = append(m.Attempts, id), why
}
