package node

import "skep/grid"

// message hands what a peer said to whoever it concerns.
func (n *Node) message(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	if int(m.Kind) >= grid.Kinds {
		return
	}
	n.stats.Received[m.Kind]++
	switch m.Kind {
	case grid.KindDigest:
		n.gossip.Hear(now, from, m.Digest, fx, n.news(now, fx))
	case grid.KindPoll:
		n.polled(now, from, &m.Poll, fx)
	case grid.KindState:
		n.answered(now, from, &m.State, fx)
	case grid.KindOffer:
		n.offered(now, from, &m.Offer, fx)
	case grid.KindAccept, grid.KindRefuse, grid.KindResult, grid.KindResultAck:
		if len(m.Attempts) != 1 {
			n.stats.Stale++
			return
		}
		n.aboutOne(now, from, m, fx)
	case grid.KindBeat:
		n.beat(now, from, m.Attempts, fx)
	case grid.KindDrop:
		for _, id := range m.Attempts {
			if n.mayRelease(from, id.Task.Job) {
				n.forget(now, id, fx)
			}
		}
	case grid.KindAsk:
		n.asked(now, from, m.Attempts, fx)
	case grid.KindGuard, grid.KindGuarded, grid.KindPromise, grid.KindPromised, grid.KindWatch, grid.KindWatched, grid.KindTakeover:
		n.aboutRegister(now, from, m, fx)
	case grid.KindCopy, grid.KindCopied:
		if len(m.Attempts) != 1 {
			n.stats.Stale++
			return
		}
		n.aboutCopy(now, from, m, fx)
	case grid.KindHold:
		n.renew(now, from, m, fx)
	case grid.KindHeld:
		n.renewed(now, from, m, fx)
	case grid.KindFind:
		first := len(fx.Sends)
		n.discovery.Find(now, from, &m.Find, n.gossip.Neighbours(), n.sight, fx)
		for i := first; i < len(fx.Sends); i++ { // the asker's ad goes on with its walk
			if s := &fx.Sends[i].Msg; s.Kind == grid.KindFind && len(m.Digest) == 1 && m.Digest[0].Ad != nil && m.Digest[0].Ad.Node == m.Find.Asker {
				s.Digest = append(s.Digest, m.Digest[0])
			}
		}
	case grid.KindHit, grid.KindMiss:
		n.found(now, from, m, fx)
	}
}

// aboutOne handles the messages about a single attempt.
func (n *Node) aboutOne(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	id := m.Attempts[0]
	switch m.Kind {
	case grid.KindAccept:
		n.accepted(now, from, id, fx)
	case grid.KindRefuse:
		n.refused(now, from, id, m.Refusal, fx)
	case grid.KindResult:
		n.resulted(now, from, id, m.Result, fx)
	case grid.KindResultAck:
		if n.mayRelease(from, id.Task.Job) {
			n.forget(now, id, fx)
		}
	}
}

// aboutCopy handles what members of registers tell each other of files.
func (n *Node) aboutCopy(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	if m.Kind == grid.KindCopy {
		n.askedToCopy(now, from, m, fx)
		return
	}
	n.copied(now, from, m, fx)
}

// aboutRegister handles what members of registers tell each other.
func (n *Node) aboutRegister(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	switch m.Kind {
	case grid.KindGuard:
		n.written(now, from, &m.Guard, fx)
	case grid.KindGuarded:
		n.wrote(now, from, &m.Guard, fx)
	case grid.KindPromise:
		n.promise(now, from, &m.Guard, fx)
	case grid.KindPromised:
		n.promised(now, from, &m.Guard, fx)
	case grid.KindWatch:
		n.watched(now, from, m, fx)
	case grid.KindWatched:
		n.agreed(now, from, m, fx)
	case grid.KindTakeover:
		n.taughtOwners(now, from, m, false, fx)
	}
}

// wake hands a timer to whoever set it.
func (n *Node) wake(now grid.Time, t grid.Timer, fx *grid.Effects) {
	switch t.Kind {
	case grid.TimerGossip, grid.TimerRefresh:
		if t.Kind == grid.TimerRefresh {
			n.chooseClass(now)
			n.gossip.Advertise(now, n.newAd(now), fx)
			n.hangUp(now, fx)
		}
		n.gossip.Wake(now, t, fx)
	case grid.TimerSearch:
		n.searchWake(now, t, fx)
	case grid.TimerBeat:
		n.beatWake = false
		n.beats(now, fx)
	case grid.TimerResult:
		n.tell(now, fx)
	case grid.TimerBound:
		n.outgrown(now, fx)
	case grid.TimerOverdue:
		n.lateWake = false
		n.overdue(now, fx)
	case grid.TimerGuard:
		n.guardWoken(now, t.Key, fx)
	case grid.TimerDrain:
		n.drained(now, fx)
	case grid.TimerAd:
		n.adWake = false
		n.advertise(now, fx)
	default:
		if l := n.lives.get(t.Key); l != nil {
			n.liveWake(now, t.Kind, l, fx)
		}
	}
}
