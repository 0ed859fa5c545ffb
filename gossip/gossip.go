package gossip

import (
	"time"

	"skep/grid"
)

// Gossip is a node's part in the dissemination of ads: its neighbours, its view and its own ad.
type Gossip struct {
	self grid.NodeID
	cfg  *Config
	rule product
	rand *grid.Rand

	ad       *grid.Ad  // current own ad
	emitted  *grid.Ad  // last sent
	before   *grid.Ad  // sent before that
	emitAt   grid.Time // when emitted was sent
	top      grid.Seq  // highest sequence used or seen in this node's name
	held     bool      // ad differs enough from emitted, and is sent MinGap after it
	left     bool      // this node has announced that it leaves
	stale    bool      // near is out of date
	grave    uint8     // next index in gone
	most     int32     // upper bound of the cost of evictable peers of a full view, until mostTill
	mostTill grid.Time

	peers []*Peer  // the view, sorted by identity
	keys  []uint64 // first bytes of their identities: searched first, as they are contiguous
	spare []*Peer  // free memory of peers
	gone  []tomb   // nodes that left recently, a ring
	lucky int32    // number of peers in the view kept at random
	turn  int32    // index in the view where the next digest begins

	links []*Peer       // neighbours, connected or not, sorted by identity
	near  []grid.NodeID // those connected, sorted by identity; not while stale
	used  uint64        // bits of links
	up    uint64        // bits of those connected
	due   uint64        // connected neighbours that the own ad is to be sent to
	some  uint64        // connected neighbours that something may be due for
	waits uint64        // of them, those that the next TimerGossip handles
	bits  []uint64      // of links, in their order

	coord     grid.Coord // of this node
	dirty     bool       // the known or connected nodes changed since the last review of the neighbours
	lookAt    grid.Time
	seek      seek
	refreshAt grid.Time // the valid wake; others are stale
	wakeAt    grid.Time // as refreshAt, of TimerGossip; grid.Never = none is set
	stats     Stats
}

// New returns the gossip of a node. The configuration must be valid, see [Config.Check], and is not copied: a
// simulator's nodes can share one.
func New(self grid.NodeID, c *Config, r *grid.Rand) Gossip {
	rule, err := parseRule(c.Rule)
	if err != nil {
		panic(err)
	}
	return Gossip{self: self, cfg: c, rule: rule, rand: r, emitAt: never,
		seek: seek{at: grid.Never, again: grid.Never, met: never}, wakeAt: grid.Never, refreshAt: grid.Never}
}

// Start sets the node's first ad. It comes before all other events.
func (g *Gossip) Start(now grid.Time, ad *grid.Ad, fx *grid.Effects) {
	g.ad, g.top = ad, ad.Seq
	g.lookAt = now
	g.emit(now)
	g.flush(now, fx)
	g.refresh(now, fx)
}

// Advertise sets the own ad. It may be called as often as the ad changes: the ad is sent when it has changed enough by
// the rule, at most once every MinGap, and otherwise with the refresh. An ad with Leaving goes to all neighbours at
// once and is the last.
//
// If its Seq is not higher than the last one's, a copy with a higher one replaces it (see Ad), without Sealed. Callers
// set Seq.Boot and may leave the counting of N to this package, which counts for the refreshes too.
func (g *Gossip) Advertise(now grid.Time, ad *grid.Ad, fx *grid.Effects) {
	if g.left {
		return
	}
	if !g.top.Less(ad.Seq) {
		ad = again(ad, g.top)
	}
	g.ad, g.top = ad, ad.Seq
	if ad.Leaving {
		g.left = true
		g.emit(now)
		g.waits = 0
		for _, p := range g.links {
			p.link.next = never
		}
		g.flush(now, fx)
		return
	}
	g.held = g.changed(now, true)
	g.flush(now, fx)
}

// Ad returns the current own ad. No two returned ads with different content have the same sequence.
func (g *Gossip) Ad() *grid.Ad { return g.ad }

// Stats returns counts since New.
func (g *Gossip) Stats() Stats { return g.stats }

// emit makes the own ad due for all connected neighbours, with a sequence higher than all before.
func (g *Gossip) emit(now grid.Time) {
	if g.ad == g.emitted || g.ad.Seq.Less(g.top) {
		g.ad = again(g.ad, g.top)
		g.top = g.ad.Seq
	}
	g.before, g.emitted, g.emitAt, g.held = g.emitted, g.ad, now, false
	if g.rule.adapt != nil {
		g.rule.adapt.paid(now)
	}
	g.due |= g.up
	g.some |= g.up
	g.stats.Emitted++
}

// again returns an unsealed copy of an ad with the sequence after last.
func again(ad *grid.Ad, last grid.Seq) *grid.Ad {
	c := *ad
	c.Sealed = nil
	c.Seq = last
	if c.Seq.N++; c.Seq.N == 0 {
		c.Seq.Boot++
	}
	return &c
}

// own handles an ad in this node's name from a peer. One with a higher sequence than this node has used is from an
// earlier run whose boot count was lost, or from a copy of this node elsewhere: it is counted, and the next ad's
// sequence is above it, since other nodes would ignore it otherwise.
func (g *Gossip) own(ad *grid.Ad) {
	if !g.top.Less(ad.Seq) {
		g.stats.Dropped.Own++
		return
	}
	g.stats.Dropped.Clone++
	g.top = ad.Seq
}

// Heard records a direct answer of a peer, which is fresher than its ad, and its round-trip time; 0 = not measured.
func (g *Gossip) Heard(now grid.Time, peer grid.NodeID, rtt time.Duration) {
	if p := g.Peer(peer); p != nil {
		p.linked().said = now
		p.measure(rtt)
		if rtt > 0 {
			g.place(p, p.RTT)
		}
	}
}

// Correct sets what a peer is now, for simulations with perfect information. The sequence stays, so that news counts
// as news.
func (g *Gossip) Correct(now grid.Time, p *Peer, ad *grid.Ad) {
	is := *ad
	is.Seq, is.Sealed = p.Ad.Seq, p.Ad.Sealed
	p.Ad, p.linked().said = &is, now
}

// Wake handles TimerGossip and TimerRefresh. Stale ones, and other timers, are ignored.
func (g *Gossip) Wake(now grid.Time, t grid.Timer, fx *grid.Effects) {
	switch {
	case t.Kind == grid.TimerGossip && now >= g.wakeAt:
		g.wakeAt, g.waits = grid.Never, 0
		if now >= g.seek.at {
			g.seekAgain(now)
		}
		if now >= g.seek.again {
			g.tellStrangers(now, fx)
		}
		if g.held {
			g.held = g.changed(now, false)
		}
		g.flush(now, fx)
	case t.Kind == grid.TimerRefresh && now >= g.refreshAt && !g.left:
		g.sweep(now)
		g.ask(now)
		if now.Sub(g.lookAt) >= g.cfg.Look {
			g.look(now, fx)
		}
		if now.Sub(g.emitAt) >= g.cfg.Refresh-g.cfg.Refresh/10 {
			g.emit(now)
		}
		g.flush(now, fx)
		g.refresh(now, fx)
	}
}

// refresh sets the next refresh: a Refresh after the last own ad, jittered by a tenth.
func (g *Gossip) refresh(now grid.Time, fx *grid.Effects) {
	r := g.cfg.Refresh
	at := g.emitAt.Add(r - r/10 + time.Duration(g.rand.Int64N(int64(r/5)+1)))
	g.refreshAt = max(at, now.Add(g.cfg.MinGap))
	fx.Wake(g.refreshAt, grid.TimerRefresh, 0)
}
