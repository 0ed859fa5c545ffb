package node

import (
	"slices"
	"time"

	"skep/balance"
	"skep/gossip"
	"skep/grid"
	"skep/node/policies"
	"skep/node/profile"
	"skep/node/reputation"
)

// peer is what this node knows of another node beyond its ad: the connection and the exchanged rates.
type peer struct {
	id           grid.NodeID
	cores        int32 // thousandths of a core
	up           bool
	borrowed     bool        // rates belong to an immutable ad: never write to them
	takesWork    bool        // it understands the kinds that a worker needs
	mayReplicate bool        // it understands the kinds that a member of a register needs
	rates        []grid.Rate // newest known: from a poll, an answer or an ad
	speed        float64
	theirVersion uint64        // version of its rates that it last sent; 0 = known from an ad only
	ourVersion   uint64        // version of this node's rates that it is known to have
	stamp        uint64        // newest start lease stamp that it sent; 0 = none
	columnMark   policies.Mark // version of the column that the policies have
	received     reputation.Received
	site         *balance.Site

	hidesJobs bool // it shows a job under access: owner only to the job's owner
}

// minGrowth is the least number of elements by which a list of peers, classes or jobs grows.
const minGrowth = 2

// workKinds are the kinds that a peer must understand to be given work.
const workKinds = grid.KindSet(1<<grid.KindPoll | 1<<grid.KindOffer | 1<<grid.KindResultAck)

func (n *parts) peer(id grid.NodeID) *peer {
	at, ok := n.peers.find(id)
	if !ok {
		n.peers = slices.Insert(grid.Room(n.peers, minGrowth), at, peerKey{head(id), &peer{id: id, speed: 1}})
	}
	return n.peers[at].peer
}

func (n *Node) peerUp(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	p := n.peer(ev.Peer)
	p.up, p.theirVersion, p.ourVersion = true, 0, 0
	p.takesWork, p.mayReplicate = ev.Kinds&workKinds == workKinds, ev.Kinds&replicaKinds == replicaKinds
	p.hidesJobs = ev.Features.Has(grid.FeatureAccess)
	n.policies.ColumnsChanged()
	n.gossip.Up(now, ev.Peer, ev.RTT, fx)
	if known := n.gossip.Peer(ev.Peer); known != nil && known.Ad != nil {
		n.learnRates(p, known.Ad)
	}
	n.askAttempts(now, ev.Peer, fx)
	n.replicas.Resend(now, ev.Peer, fx)
	n.worker.OwnerConnected(now, ev.Peer, fx)
	n.nodeChanged(now, n.gossip.Peer(ev.Peer))
}

func (n *Node) peerDown(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	n.gossip.Down(now, id, fx)
	p := n.peers.get(id)
	if p == nil {
		return
	}
	p.up = false
	n.policies.ColumnsChanged()
	n.policies.Note(balance.Outcome{Kind: balance.Gone, At: now, Node: id})
	n.shortenLeases(now, id, fx)
	if at, ok := n.peers.find(id); ok {
		n.peers = slices.Delete(n.peers, at, at+1)
	}
}

// learnRates takes over an ad's rates unless the peer itself has sent newer ones.
func (n *parts) learnRates(p *peer, ad *grid.Ad) {
	p.speed, p.cores = ad.Speed, int32(ad.Capacity.CPU)
	p.site = profile.SiteOf(ad.Labels, p.site)
	if p.theirVersion == 0 || slices.Equal(p.rates, ad.Rates) {
		n.shareAdRates(p, ad)
	}
}

// shareAdRates makes the peer's rates alias those of its ad, which is in memory anyway.
func (n *parts) shareAdRates(p *peer, ad *grid.Ad) {
	if !p.borrowed && cap(p.rates) > 0 {
		n.scratch.lists = append(n.scratch.lists, p.rates[:0])
	}
	p.rates, p.borrowed = ad.Rates, true
}

// ownRates gives a peer a rates buffer of its own, separate from its ad.
func (n *parts) ownRates(p *peer, size int) {
	if !p.borrowed && cap(p.rates) >= size {
		return
	}
	p.rates, p.borrowed = nil, false
	if k := len(n.scratch.lists); k > 0 {
		p.rates, n.scratch.lists = n.scratch.lists[k-1], n.scratch.lists[:k-1]
	}
	if cap(p.rates) < size {
		p.rates = make([]grid.Rate, 0, size)
	}
}

// adNews returns the callback for each ad that is newer than the known one.
func (c *coordinator) adNews(now grid.Time, fx *grid.Effects) func(*gossip.Peer) {
	return func(g *gossip.Peer) {
		p := c.peers.get(g.Node())
		if p == nil || g.Ad == nil {
			return
		}
		c.learnRates(p, g.Ad)
		c.policies.ColumnsChanged()
		c.nodeChanged(now, g)
	}
}

// exchangeRates records the rates that came with a poll or an answer: mutual information feedback [1].
func (n *parts) exchangeRates(p *peer, rates []grid.Rate, speed float64, cores grid.MilliCPU, mine, have uint64) {
	p.ourVersion = have
	if !(speed > 0) || speed > 1e6 || cores < 0 || cores > grid.MaxMillis || mine == p.theirVersion {
		return
	}
	p.speed, p.cores = speed, int32(cores)
	if p.theirVersion == 0 && len(rates) == 0 {
		return // omitted by a peer that has not noticed our restart; it sends them once it sees which version we have
	}
	p.theirVersion = mine
	n.policies.ColumnsChanged()
	if slices.Equal(p.rates, rates) {
		return
	}
	n.ownRates(p, len(rates))
	p.rates = p.rates[:0]
	for _, r := range rates {
		r.Class = n.rates.Intern(r.Class)
		p.rates = append(p.rates, r)
	}
	if known := n.gossip.Peer(p.id); known != nil && known.Ad != nil && slices.Equal(p.rates, known.Ad.Rates) {
		n.shareAdRates(p, known.Ad)
	}
}

func (n *Node) handleAnnouncement(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	if int(m.Kind) >= grid.Kinds || from == n.cfg.Self {
		return
	}
	n.stats.Received[m.Kind]++
	switch m.Kind {
	case grid.KindCall:
		n.discovery.Call(now, from, &m.Find, n.selfIfFits, fx)
	case grid.KindTakeover:
		n.takeoverHeard(now, from, m, true, fx)
	case grid.KindBye:
		n.gossip.Hear(now, from, m.Digest, fx, n.adNews(now, fx))
	}
}

// roundTrip returns the median round trip to the given peers (of at most 16), 0 if none is known.
func (n *parts) roundTrip(ids []grid.NodeID) time.Duration {
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

// connectedPeer is a peer with a live connection, its entry in the view and its track record.
type connectedPeer struct {
	*peer
	view   *gossip.Peer
	record *reputation.Record // nil if it was never given an attempt
}

// connected lists the peers with a live connection, ordered by identity; valid until the next call. The view, the peers
// and the track records are all sorted by identity, so one merge pass joins them.
func (n *parts) connected() []connectedPeer {
	up, at, seen := n.scratch.met[:0], 0, n.records.Cursor()
	peers, heads := n.gossip.Peers(), n.gossip.Heads()
	for i, h := range heads {
		for at < len(n.peers) && n.peers[at].head < h {
			at++
		}
		for k := at; k < len(n.peers) && n.peers[k].head == h; k++ {
			p := n.peers[k].peer
			if !p.up || p.id != peers[i].Node() {
				continue
			}
			up = append(up, connectedPeer{p, peers[i], seen.Next(p.id)})
		}
	}
	n.scratch.met = up
	return up
}
