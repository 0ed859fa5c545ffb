package node

import (
	"slices"
	"time"

	"skep/exec"
	"skep/grid"
)

// sendBeats sends each owner its attempts that this node holds, and schedules the next beat a third of the shortest
// attempt lease later. Without attempts of other owners there is no timer.
func (n *Node) sendBeats(now grid.Time, fx *grid.Effects) {
	lease, firstSend := time.Duration(0), len(fx.Sends)
	n.dropUnleased(now, fx)
	n.informClaimants(now, fx)
	for _, list := range [...][]*exec.Work{n.exec.Queue(), n.exec.Running(), n.exec.Finished()} {
		for _, w := range list {
			to := n.ownerOf(w.ID.Task.Job)
			q := n.peers.get(to)
			if to == n.cfg.Self {
				if w.State == grid.WorkQueued {
					n.requestStartLease(now, firstSend, w, to, fx)
				}
				continue
			}
			if w.Tries > 8 {
				continue
			}
			if q == nil || !q.up {
				if p := n.ownerRecords[w.ID.Task.Job]; p != nil {
					n.beatMembers(now, p, w, firstSend, fx)
					lease = max(lease, w.Lease)
				} else if w.State == grid.WorkQueued {
					lease = max(lease, w.Lease)
				}
				if w.State == grid.WorkQueued && !dialRequested(fx, to) {
					n.dial(now, to, fx)
				}
				continue
			}
			if lease == 0 || w.Lease < lease {
				lease = w.Lease
			}
			if w.State == grid.WorkQueued {
				n.requestStartLease(now, firstSend, w, to, fx)
				continue
			}
			m := attemptsMessage(fx, firstSend, to, grid.KindBeat)
			m.Attempts = append(m.Attempts, w.ID)
		}
	}
	n.wakeForBeat(now, lease, fx)
}

// beatMembers sends a beat to the other members of the job's register: the owner is disconnected, and one of them is
// the next owner or knows it.
func (n *Node) beatMembers(now grid.Time, rec *ownerRecord, w *exec.Work, firstSend int, fx *grid.Effects) {
	for _, id := range rec.members {
		if id == rec.owner || id == n.cfg.Self {
			continue
		}
		if q := n.peers.get(id); q != nil && q.up {
			m := attemptsMessage(fx, firstSend, id, grid.KindBeat)
			m.Attempts = append(m.Attempts, w.ID)
		} else if w.State == grid.WorkQueued && !dialRequested(fx, id) {
			n.dial(now, id, fx)
		}
	}
}

// dialRequested reports whether this step already asks for a connection to the node.
func dialRequested(fx *grid.Effects, id grid.NodeID) bool {
	return slices.ContainsFunc(fx.Links, func(l grid.Link) bool { return l.Peer == id })
}

// attemptsMessage returns a message of kind k to a node, among the sends from first on, with room for another
// attempt; a new one if there is none.
func attemptsMessage(fx *grid.Effects, firstSend int, to grid.NodeID, k grid.Kind) *grid.Message {
	for i := len(fx.Sends) - 1; i >= firstSend; i-- {
		if s := &fx.Sends[i]; s.To == to && s.Msg.Kind == k && len(s.Msg.Attempts) < grid.MaxBeats {
			return &s.Msg
		}
	}
	return fx.Send(to, k)
}

func (n *Node) scheduleBeat(now grid.Time, w *exec.Work, fx *grid.Effects) {
	if n.ownerOf(w.ID.Task.Job) != n.cfg.Self {
		n.wakeForBeat(now, w.Lease, fx)
	}
}

func (n *Node) wakeForBeat(now grid.Time, lease time.Duration, fx *grid.Effects) {
	if lease > 0 && !n.beatWake {
		n.beatWake = true
		fx.Wake(now.Add(lease/3), grid.TimerBeat, 0)
	}
}

// answerAsk answers an owner that asks about attempts given to this node.
func (n *Node) answerAsk(now grid.Time, from grid.NodeID, ids []grid.AttemptID, fx *grid.Effects) {
	var beat *grid.Message
	for _, id := range ids {
		if n.ownerOf(id.Task.Job) != from {
			continue
		}
		w := n.exec.Get(id)
		switch {
		case w == nil:
			if hearsay := n.isHearsay(id.Task.Job); !n.released.contains(id, hearsay) {
				n.released.add(tombstone{id, hearsay}) // a late offer of it must not start: the owner goes on without it
			}
			m := fx.Send(from, grid.KindRefuse)
			m.Attempts = append(m.Attempts, id)
			if m.Refusal = (grid.Refusal{Why: grid.WhyLost, Detail: "it does not have the attempt"}); n.neverRan.contains(id, n.isHearsay(id.Task.Job)) {
				m.Refusal = n.refusedEarlier()
			}
		case w.State == grid.WorkFinished:
			n.repeatResult(now, w, fx)
		default:
			if beat == nil {
				beat = fx.Send(from, grid.KindBeat)
			}
			beat.Attempts = append(beat.Attempts, id)
		}
	}
}
