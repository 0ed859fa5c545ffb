package node

import (
	"skep/grid"
	"skep/node/coordinator"
)

// handle passes an event to the part that it concerns.
func (n *Node) handle(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	switch ev.Kind {
	case grid.EvStart:
		n.start(now, fx)
	case grid.EvMessage:
		n.handleMessage(now, ev.Peer, ev.Msg, fx)
	case grid.EvAnnounce:
		n.handleAnnouncement(now, ev.Peer, ev.Msg, fx)
	case grid.EvWake:
		n.handleTimer(now, ev.Timer, fx)
	case grid.EvPeerUp:
		n.peerUp(now, ev, fx)
	case grid.EvPeerDown:
		n.peerDown(now, ev.Peer, fx)
	case grid.EvSubmit:
		if n.coordinator.Submit(now, ev, fx) {
			n.createJobs(now, n.submissions.Submit(now, ev.Job, ev.Spec, ev.Caller, fx), fx)
		}
	case grid.EvCancel, grid.EvRetry:
		n.coordinator.CallerAsks(now, ev, fx)
	case grid.EvEnded, grid.EvLate, grid.EvProgress, grid.EvCheckpoint:
		n.worker.AttemptEvent(now, ev, fx)
	case grid.EvFetched:
		n.loadChanged() // what has its inputs may wait for a slot
		if ev.Deposit || ev.Step != 0 || !n.worker.InputsFetched(now, ev.Attempt, ev.Err, fx) {
			n.coordinator.Fetched(now, ev, fx)
		}
	case grid.EvDisk, grid.EvEngine:
		n.setClosed(now, ev, fx)
	case grid.EvAvailable:
		n.setAvailability(now, ev.Left, ev.Up, fx)
	case grid.EvHour:
		n.profile.SetHour(now, ev.Hour, fx)
		n.coordinator.TryHere()
	case grid.EvTransferred:
		n.peers.Transferred(now, ev)
	case grid.EvAddrs:
		n.profile.SetAddrs(now, ev.Addrs, fx)
	case grid.EvLeave:
		n.announceLeave(now, fx)
	case grid.EvDrain:
		n.startDraining(now, ev, fx)
	case grid.EvUndrain:
		n.stopDraining(now, ev, fx)
	}
}

// handleMessage takes another node's message and drops unknown kinds.
func (n *Node) handleMessage(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	if int(m.Kind) >= grid.Kinds {
		return
	}
	n.stats.received.Add(m.Kind)
	n.route(now, from, m, fx)
}

// route passes a message to the part that it concerns.
func (n *Node) route(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	switch m.Kind {
	case grid.KindDigest:
		n.gossip.Hear(now, from, m.Digest, fx, n.adNews(now))
	case grid.KindPoll:
		if s := n.peers.Asked(now, from, &m.Poll, fx); s != nil {
			n.worker.Answer(now, from, &m.Poll, s)
		}
	case grid.KindOffer:
		n.offerReceived(now, from, &m.Offer, fx)
	case grid.KindResultAck:
		if len(m.Attempts) != 1 {
			n.stats.stale++
			return
		}
		n.worker.Drop(from, m.Attempts, fx)
	case grid.KindDrop:
		n.worker.Drop(from, m.Attempts, fx)
	case grid.KindAsk:
		n.worker.Asked(now, from, m.Attempts, fx)
	case grid.KindVacate:
		n.worker.Vacate(now, from, m, fx)
	case grid.KindStartLeaseAck:
		if !n.worker.LeasesGranted(now, from, m) {
			n.countOffence(from, fx)
		}
	case grid.KindCheckpointAck:
		n.worker.CheckpointAnswered(from, m, fx)
	case grid.KindReserve:
		n.worker.Reserve(now, from, m.Reserve, fx)
	case grid.KindKeepalive:
		n.replicas.KeepaliveReceived(now, from, m, n.coordinator.QuotaLeft(from), fx)
	case grid.KindKeepaliveAck:
		n.keepaliveAnswered(now, from, m, fx)
	case grid.KindWaiting, grid.KindPull, grid.KindNoWork:
		n.handlePull(now, from, m, fx)
	case grid.KindFind, grid.KindHit, grid.KindMiss:
		n.handleSearch(now, from, m, fx)
	case grid.KindAwait, grid.KindAwaited:
		n.dependency.Message(now, from, m, fx)
	default:
		n.coordinator.Message(now, from, m, fx)
	}
	n.followCoordinator(now, fx)
}

func (n *Node) handleAnnouncement(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	if int(m.Kind) >= grid.Kinds || from == n.self {
		return
	}
	n.stats.received.Add(m.Kind)
	switch m.Kind {
	case grid.KindCall:
		n.discovery.Call(now, from, &m.Find, n.selfIfFits, fx)
	case grid.KindTakeover:
		n.coordinator.TakeoversAnnounced(now, from, m, fx)
	case grid.KindBye:
		n.gossip.Hear(now, from, m.Digest, fx, n.adNews(now))
	}
}

func (n *Node) handleTimer(now grid.Time, t grid.Timer, fx *grid.Effects) {
	switch t.Kind {
	case grid.TimerGossip:
		n.gossip.Wake(now, t, fx)
	case grid.TimerRefresh:
		n.chooseClass(now)
		n.gossip.Advertise(now, n.nextAd(now), fx)
		n.peers.DropDialled(now, fx)
		n.gossip.Wake(now, t, fx)
	case grid.TimerSearch:
		if f, ok := n.discovery.Wake(now, t, n.gossip.Neighbours(), n.selfIfFits, fx); ok {
			n.coordinator.SearchDone(now, f, fx)
		}
	case grid.TimerBeat, grid.TimerResult, grid.TimerBound, grid.TimerDrain, grid.TimerReserve, grid.TimerReallocate,
		grid.TimerIntake:
		n.worker.Wake(now, t.Kind, fx)
	case grid.TimerPull:
		n.pull.Woke(now)
	case grid.TimerAd:
		n.adDue(now, fx)
	case grid.TimerAwait:
		n.dependency.Wake(now, fx)
	default:
		if t.Kind == grid.TimerRegister && t.Key == coordinator.SubmissionsKey {
			n.createJobs(now, n.submissions.Wake(now, fx), fx)
			return
		}
		n.coordinator.Wake(now, t, fx)
	}
}

func (n *Node) peerUp(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	n.peers.Up(now, ev, fx)
	n.replicas.Connected(ev.Peer, ev.Features.Has(grid.FeatureRetries))
	n.coordinator.PeerUp(now, ev.Peer, fx)
	n.replicas.Resend(now, ev.Peer, fx)
	n.worker.OwnerConnected(now, ev.Peer, fx)
	n.dependency.PeerUp(now, ev.Peer, fx)
	n.coordinator.NodeChanged(now, n.gossip.Peer(ev.Peer))
	n.loadChanged()
}

func (n *Node) peerDown(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	if n.peers.Down(now, id, fx) {
		n.replicas.Disconnected(id)
		n.coordinator.ShortenLeases(now, id, fx)
		n.peers.Forget(id)
		n.dependency.PeerDown(now, id, fx)
	}
}

// countOffence counts an answer that this node did not ask for, and reports the sender to the driver.
func (n *Node) countOffence(from grid.NodeID, fx *grid.Effects) {
	n.stats.stale++
	fx.Offences = append(fx.Offences, from)
}

// loadChanged has the node look whether work should move: some has come, has ended or waits, or a node has another ad.
func (n *Node) loadChanged() {
	if n.pull != nil {
		n.pull.Changed()
	}
}

// handlePull handles the messages of idle nodes and of those where work waits.
func (n *Node) handlePull(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	switch {
	case n.pull == nil:
	case m.Kind == grid.KindPull:
		n.pull.PullReceived(now, from, m.Poll.Needs, fx)
	case m.Kind == grid.KindNoWork:
		n.pull.Denied(now, from)
	default:
		n.pull.Notified(now, from, fx)
	}
}
