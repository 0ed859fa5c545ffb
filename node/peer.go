package node

import (
	"slices"
	"time"

	"skep/balance"
	"skep/gossip"
	"skep/grid"
)

// peer is what this node keeps of another beyond its ad: the connection, and the rates they exchanged.
type peer struct {
	id    grid.NodeID
	up    bool
	kinds grid.KindSet
	rates []grid.Rate // the newest heard, from a poll, an answer or an ad
	speed float64
	cores grid.MilliCPU
	have  uint64      // version of its rates that it sent last; 0 = only from an ad
	told  uint64      // version of ours that it is known to have
	noted []grid.Rate // the column that the policies were told
}

// needed are the kinds that a peer must understand to be given work.
const needed = grid.KindSet(1<<grid.KindPoll | 1<<grid.KindOffer | 1<<grid.KindResultAck)

func (n *Node) peer(id grid.NodeID) *peer {
	p := n.peers[id]
	if p == nil {
		p = &peer{id: id, speed: 1}
		n.peers[id] = p
	}
	return p
}

func (n *Node) peerUp(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	p := n.peer(ev.Peer)
	p.up, p.kinds, p.have, p.told = true, ev.Kinds, 0, 0
	n.rates.stale = true
	n.gossip.Up(now, ev.Peer, ev.RTT, fx)
	if known := n.gossip.Peer(ev.Peer); known != nil && known.Ad != nil {
		p.learn(known.Ad)
	}
	n.ask(now, ev.Peer, fx)
	n.tellTo(now, ev.Peer, fx)
	n.kick(now, fx)
}

func (n *Node) peerDown(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	n.gossip.Down(now, id, fx)
	p := n.peers[id]
	if p == nil {
		return
	}
	p.up = false
	p.noted = p.noted[:0]
	n.rates.stale = true
	n.note(balance.Outcome{Kind: balance.Gone, At: now, Node: id})
	n.suspect(now, id, fx)
	delete(n.peers, id)
}

// learn takes an ad's rates unless the peer itself has told newer ones.
func (p *peer) learn(ad *grid.Ad) bool {
	p.speed, p.cores = ad.Speed, ad.Capacity.CPU
	if p.have > 0 {
		return false
	}
	p.rates = append(p.rates[:0], ad.Rates...)
	return true
}

// news returns what is done for each ad that was newer than what was known.
func (n *Node) news(now grid.Time, fx *grid.Effects) func(*gossip.Peer) {
	return func(g *gossip.Peer) {
		p := n.peers[g.Node]
		if p == nil || g.Ad == nil {
			return
		}
		p.learn(g.Ad)
		n.rates.stale = true
		n.kick(now, fx)
	}
}

// exchange takes the rates that came with a poll or an answer: mutual information feedback [1].
func (n *Node) exchange(p *peer, rates []grid.Rate, speed float64, cores grid.MilliCPU, mine, have uint64) {
	p.told = have
	if !(speed > 0) || speed > 1e6 || cores < 0 || cores > grid.MaxMillis || mine == p.have {
		return
	}
	p.speed, p.cores = speed, cores
	if p.have == 0 && len(rates) == 0 {
		return // left out, by one who has not noticed that we start anew: it will say them when it hears what we have
	}
	p.have = mine
	p.rates = p.rates[:0]
	for _, r := range rates {
		r.Class = n.rates.intern(r.Class)
		p.rates = append(p.rates, r)
	}
	n.rates.stale = true
}

// announced handles what was said to everybody.
func (n *Node) announced(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	if int(m.Kind) >= grid.Kinds || from == n.cfg.Self {
		return
	}
	n.stats.Received[m.Kind]++
	switch m.Kind {
	case grid.KindCall:
		n.discovery.Call(now, from, &m.Find, n.local, fx)
	case grid.KindBye:
		n.gossip.Hear(now, from, m.Digest, fx, n.news(now, fx))
	}
}

// roundTrip returns the median round trip to the given peers, zero where none is known.
func (n *Node) roundTrip(ids []grid.NodeID) time.Duration {
	rtts := make([]time.Duration, 0, 16)
	for _, id := range ids {
		if p := n.gossip.Peer(id); p != nil && p.RTT > 0 && len(rtts) < cap(rtts) {
			rtts = append(rtts, p.RTT)
		}
	}
	if len(rtts) == 0 {
		return 0
	}
	slices.Sort(rtts)
	return rtts[len(rtts)/2]
}

// connected lists the peers with a live connection, ordered by identity.
func (n *Node) connected() []*peer {
	up := n.scratch.peers[:0]
	for _, g := range n.gossip.Peers() {
		if p := n.peers[g.Node]; p != nil && p.up {
			up = append(up, p)
		}
	}
	n.scratch.peers = up
	return up
}
