package node

import (
	"slices"
	"time"

	"skep/exec"
	"skep/grid"
)

// beats tells each origin what this node still has of it, and does so again before a third of the shortest
// lease has passed. While there is nothing of others there is no timer.
func (n *Node) beats(now grid.Time, fx *grid.Effects) {
	lease, first := time.Duration(0), len(fx.Sends)
	n.weary(now, fx)
	n.tellClaimants(now, fx)
	for _, list := range [...][]*exec.Work{n.exec.Queue(), n.exec.Running(), n.exec.Finished()} {
		for _, w := range list {
			to := n.owner(w.ID.Task.Job)
			q := n.peers.get(to)
			if to == n.cfg.Self || w.Tries > 8 {
				continue
			}
			if q == nil || !q.up {
				if p := n.posts[w.ID.Task.Job]; p != nil {
					n.seek(now, p, w, first, fx)
					lease = max(lease, w.Lease)
				} else if w.State == grid.WorkQueued {
					lease = max(lease, w.Lease)
				}
				if w.State == grid.WorkQueued && !calling(fx, to) {
					n.dial(now, to, fx)
				}
				continue
			}
			if lease == 0 || w.Lease < lease {
				lease = w.Lease
			}
			if w.State == grid.WorkQueued {
				n.askHold(now, first, w, to, fx)
				continue
			}
			m := batch(fx, first, to, grid.KindBeat)
			m.Attempts = append(m.Attempts, w.ID)
		}
	}
	n.beatIn(now, lease, fx)
}

// seek tells the other members of a job's register what is here of it: its owner is gone, and one of them is or
// knows the next.
func (n *Node) seek(now grid.Time, p *post, w *exec.Work, first int, fx *grid.Effects) {
	for _, id := range p.members {
		if id == p.owner || id == n.cfg.Self {
			continue
		}
		if q := n.peers.get(id); q != nil && q.up {
			m := batch(fx, first, id, grid.KindBeat)
			m.Attempts = append(m.Attempts, w.ID)
		} else if w.State == grid.WorkQueued && !calling(fx, id) {
			n.dial(now, id, fx)
		}
	}
}

// calling reports whether a connection to a node is asked for in this step already.
func calling(fx *grid.Effects, id grid.NodeID) bool {
	return slices.ContainsFunc(fx.Links, func(l grid.Link) bool { return l.Peer == id })
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
	if n.owner(w.ID.Task.Job) != n.cfg.Self {
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
		if n.owner(id.Task.Job) != from {
			continue
		}
		w := n.exec.Get(id)
		switch {
		case w == nil:
			if doubt := n.hearsay(id.Task.Job); !n.past.gone(id, doubt) {
				n.past.add(fenced{id, doubt}) // an offer of it may be on its way, and the origin goes on without
			}
			m := fx.Send(from, grid.KindRefuse)
			m.Attempts = append(m.Attempts, id)
			if m.Refusal = (grid.Refusal{Why: grid.WhyLost, Detail: "it does not have the attempt"}); n.unrun.gone(id, n.hearsay(id.Task.Job)) {
				m.Refusal = n.refusedBefore()
			}
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
