package node

import "skep/grid"

// handleMessage takes another node's message and drops unknown kinds.
func (n *Node) handleMessage(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	if int(m.Kind) >= grid.Kinds {
		return
	}
	n.stats.Received[m.Kind]++
	n.route(now, from, m, fx)
}

// route passes a message to its handler.
func (n *Node) route(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	switch m.Kind {
	case grid.KindDigest:
		n.gossip.Hear(now, from, m.Digest, fx, n.adNews(now, fx))
	case grid.KindPoll:
		n.answerPoll(now, from, &m.Poll, fx)
	case grid.KindState:
		n.pollAnswered(now, from, &m.State, fx)
	case grid.KindOffer:
		n.offerReceived(now, from, &m.Offer, fx)
	case grid.KindAccept, grid.KindRefuse, grid.KindResult, grid.KindResultAck:
		if len(m.Attempts) != 1 {
			n.stats.Stale++
			return
		}
		n.handleAttempt(now, from, m, fx)
	case grid.KindBeat:
		n.beatReceived(now, from, m.Attempts, fx)
	case grid.KindDrop:
		n.worker.Drop(from, m.Attempts, fx)
	case grid.KindAsk:
		n.worker.Asked(now, from, m.Attempts, fx)
	case grid.KindWrite, grid.KindWriteAck, grid.KindCampaign, grid.KindVote, grid.KindKeepalive, grid.KindKeepaliveAck, grid.KindTakeover:
		n.handleRegister(now, from, m, fx)
	case grid.KindDeposit, grid.KindDepositAck:
		if len(m.Attempts) != 1 {
			n.stats.Stale++
			return
		}
		n.handleDeposit(now, from, m, fx)
	case grid.KindStartLease:
		n.grantStartLease(now, from, m, fx)
	case grid.KindStartLeaseAck:
		if !n.worker.LeasesGranted(now, from, m) {
			n.countOffence(from, fx)
		}
	case grid.KindFind:
		first := len(fx.Sends)
		n.discovery.Find(now, from, &m.Find, n.gossip.Neighbours(), n.bestKnown, fx)
		for i := first; i < len(fx.Sends); i++ { // the asker's ad travels with its walk
			if s := &fx.Sends[i].Msg; s.Kind == grid.KindFind && len(m.Digest) == 1 && m.Digest[0].Ad != nil && m.Digest[0].Ad.Node == m.Find.Asker {
				s.Digest = append(s.Digest, m.Digest[0])
			}
		}
	case grid.KindHit, grid.KindMiss:
		n.searchAnswered(now, from, m, fx)
	}
}

func (n *Node) handleAttempt(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	id := m.Attempts[0]
	switch m.Kind {
	case grid.KindAccept:
		n.acceptReceived(now, from, id, fx)
	case grid.KindRefuse:
		n.refuseReceived(now, from, id, m.Refusal, fx)
	case grid.KindResult:
		n.resultReceived(now, from, id, m.Result, fx)
	case grid.KindResultAck:
		n.worker.Drop(from, m.Attempts, fx)
	}
}

// handleDeposit handles messages about deposits.
func (n *Node) handleDeposit(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	if m.Kind == grid.KindDeposit {
		n.depositAsked(from, m, fx)
		return
	}
	n.depositAnswered(now, from, m, fx)
}

// handleRegister handles messages between members of a register.
func (n *Node) handleRegister(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	switch m.Kind {
	case grid.KindWrite:
		n.applyWrite(now, from, &m.Register, fx)
	case grid.KindWriteAck:
		n.writeAnswered(now, from, &m.Register, fx)
	case grid.KindCampaign:
		n.vote(now, from, &m.Register, fx)
	case grid.KindVote:
		n.voteAnswered(now, from, &m.Register, fx)
	case grid.KindKeepalive:
		n.replicas.KeepaliveReceived(now, from, m, n.quotaLeft(from), fx)
	case grid.KindKeepaliveAck:
		n.keepaliveAnswered(now, from, m, fx)
	case grid.KindTakeover:
		n.takeoverHeard(now, from, m, false, fx)
	}
}

func (n *Node) handleTimer(now grid.Time, t grid.Timer, fx *grid.Effects) {
	switch t.Kind {
	case grid.TimerGossip, grid.TimerRefresh:
		if t.Kind == grid.TimerRefresh {
			n.chooseClass(now)
			n.gossip.Advertise(now, n.nextAd(now), fx)
			n.dropDialled(now, fx)
		}
		n.gossip.Wake(now, t, fx)
	case grid.TimerSearch:
		n.searchTimer(now, t, fx)
	case grid.TimerBeat, grid.TimerResult, grid.TimerBound, grid.TimerDrain:
		n.worker.Wake(now, t.Kind, fx)
	case grid.TimerOverdue:
		n.returnOverdue(now, fx)
	case grid.TimerRegister:
		if t.Key == pendingKey {
			n.createJobs(now, n.submissions.Wake(now, fx), fx)
			return
		}
		n.replicaTimer(now, t.Key, fx)
	case grid.TimerAd:
		n.adDue(now, fx)
	default:
		if l := n.live.get(t.Key); l != nil {
			n.taskTimer(now, t.Kind, l, fx)
		}
	}
}
