package node

import (
	"time"

	"skep/exec"
	"skep/grid"
)

// beats tells each origin what this node still has of it, and does so again before a third of the shortest
// lease has passed. While there is nothing of others there is no timer.
func (n *Node) beats(now grid.Time, fx *grid.Effects) {
	lease, first := time.Duration(0), len(fx.Sends)
	for _, list := range [...][]*exec.Work{n.exec.Queue(), n.exec.Running(), n.exec.Finished()} {
		for _, w := range list {
			if q := n.peers[w.Origin()]; w.Origin() == n.cfg.Self || q == nil || !q.up || w.Tries > 8 {
				continue
			}
			if lease == 0 || w.Lease < lease {
				lease = w.Lease
			}
			m := batch(fx, first, w.Origin(), grid.KindBeat)
			m.Attempts = append(m.Attempts, w.ID)
		}
	}
	n.beatIn(now, lease, fx)
}

// batch returns the message of a kind to a node that has room for an attempt more, among those from first on.
func batch(fx *grid.Effects, first int, to grid.NodeID, k grid.Kind) *grid.Message {
	for i := len(fx.Sends) - 1; i >= first; i-- {
		if s := &fx.Sends[i]; s.To == to && s.Msg.Kind == k && len(s.Msg.Attempts) < grid.MaxBeats {
			return &s.Msg
		}
	}
	return fx.Send(to, k)
}

func (n *Node) wakeBeat(now grid.Time, w *exec.Work, fx *grid.Effects) {
	if w.Origin() != n.cfg.Self {
		n.beatIn(now, w.Lease, fx)
	}
}

func (n *Node) beatIn(now grid.Time, lease time.Duration, fx *grid.Effects) {
	if lease > 0 && !n.beatWake {
		n.beatWake = true
		fx.Wake(now.Add(lease/3), grid.TimerBeat, 0)
	}
}

// asked tells an origin what became of attempts that it gave to this node.
func (n *Node) asked(now grid.Time, from grid.NodeID, ids []grid.AttemptID, fx *grid.Effects) {
	var beat *grid.Message
	for _, id := range ids {
		if id.Task.Job.Origin != from {
			continue
		}
		w := n.exec.Get(id)
		switch {
		case w == nil:
			if !n.past.has(id) {
				n.past.add(id) // an offer of it may be on its way, and the origin goes on without
			}
			m := fx.Send(from, grid.KindRefuse)
			m.Attempts = append(m.Attempts, id)
			m.Refusal = grid.Refusal{Why: grid.WhyLost, Detail: "it does not have the attempt"}
		case w.State == grid.WorkFinished:
			n.sendResult(now, w, fx)
		default:
			if beat == nil {
				beat = fx.Send(from, grid.KindBeat)
			}
			beat.Attempts = append(beat.Attempts, id)
		}
	}
}
