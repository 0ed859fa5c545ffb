package gossip

import (
	"time"

	"skep/grid"
)

// nearHops bounds an exchange with a stranger: an ad has no date, and one that is passed from view to view without end
// would keep a dead node alive for ever. The more hops an ad has travelled the younger it must be, see fits.
const (
	nearHops = 3
	farHops  = 8 // of an ad for a neighbour
)

// flush sends the own ad if it is held and due, and to each connected neighbour what is due and may be sent now; for
// the rest it sets a timer.
func (g *Gossip) flush(now grid.Time, fx *grid.Effects) {
	at := min(g.seek.at, g.seek.again)
	if g.held {
		if ready := g.ready(); now >= ready {
			g.emit(now)
		} else {
			at = min(at, ready)
		}
	}
	if todo := g.some &^ g.waits; todo != 0 {
		for i, bit := range g.bits {
			if todo&bit == 0 {
				continue
			}
			p := g.links[i]
			if now >= p.link.next {
				g.digest(now, p, fx)
			}
			if g.some&bit != 0 {
				g.waits |= bit
				at = min(at, p.link.next)
			}
		}
	}
	if at < g.wakeAt {
		g.wakeAt = at
		fx.Wake(at, grid.TimerGossip, 0)
	}
}

// digest sends a neighbour what is due, as much as a digest holds: the own ad, farewells, then the view from where the
// last full digest ended.
func (g *Gossip) digest(now grid.Time, to *Peer, fx *grid.Effects) {
	bit := to.link.bit()
	d := begin(fx, to.Node())
	if g.due&bit != 0 {
		d.add(g.emitted, 0)
		g.due &^= bit
	}
	for i := range g.gone {
		if t := &g.gone[i]; t.due&bit != 0 && d.add(t.ad, t.hops) {
			t.due &^= bit
		}
	}
	n := len(g.peers)
	for i, at := 0, int(g.turn)%max(n, 1); i < n; i, at = i+1, at+1 {
		if at == n {
			at = 0
		}
		p := g.peers[at]
		if p.due&bit == 0 {
			continue
		}
		if !d.add(p.Ad, p.way()) {
			g.turn = int32(at)
			break
		}
		p.due &^= bit
		if p.sentAt >= p.Heard { // else the rule did not forward it: it is due for a new neighbour only
			p.sent = p.Ad
		}
	}
	if !d.full {
		g.some &^= bit
	}
	if d.end(g) {
		to.link.next = now.Add(g.cfg.MinGap)
	}
}

// exchange sends a peer, neighbour or not, the own ad and near ads; nothing if it got an exchange within MinGap. A
// new neighbour gets the rest with its next digest, and the own ad again, by which it sees that it is one; see connect.
func (g *Gossip) exchange(now grid.Time, to *Peer, fx *grid.Effects) { g.exchangeAs(now, to, 0, fx) }

// exchangeAs is exchange, with what the entry of the own ad states as hops: 0, or unlinked.
func (g *Gossip) exchangeAs(now grid.Time, to *Peer, own uint8, fx *grid.Effects) {
	l := to.linked()
	if now < l.next {
		return
	}
	l.told, l.next = now, now.Add(g.cfg.MinGap)
	if g.emitted == nil || g.left {
		return
	}
	d := begin(fx, to.Node())
	d.add(g.emitted, own)
	n, from := 0, 0
	if len(g.peers) > 0 {
		from = g.rand.IntN(len(g.peers))
	}
	for hops := uint8(1); hops <= nearHops; hops++ {
		for i := range g.peers {
			p := g.peers[(from+i)%len(g.peers)]
			if p.Hops != hops || p == to || !g.fits(now, p) {
				continue
			}
			if n >= g.cfg.Exchange || !d.add(p.Ad, p.Hops) {
				d.end(g)
				return
			}
			p.due &^= l.bit()
			n++
		}
	}
	d.end(g)
}

// fits reports whether an ad is young enough to be handed on from memory: Expire/2, /3 and /6 after 1, 2 and 3 hops,
// then Expire/24 up to farHops. The sum is 1.2×Expire: nobody is known for longer than 2.2×Expire after its last ad.
func (g *Gossip) fits(now grid.Time, p *Peer) bool {
	oldest := g.cfg.Expire / 6
	switch {
	case p.Ad == nil || p.Hops > farHops:
		return false
	case p.Hops > nearHops:
		oldest /= 4
	default:
		oldest *= time.Duration(nearHops + 1 - p.Hops)
	}
	return p.Up || age(now, p.Heard) <= oldest
}

// share makes due for a neighbour all that may be handed on from memory, while the view has room, so that both know the
// same soon: what the neighbour sends meanwhile is not sent to it. Where nobody was unknown for a Refresh all know all.
func (g *Gossip) share(now grid.Time, to *Peer) {
	if g.cfg.Exchange == 0 || !g.hasRoom() || age(now, g.seek.met) > g.cfg.Refresh {
		return
	}
	bit := to.link.bit()
	for _, p := range g.peers {
		if p != to && g.fits(now, p) {
			p.due |= bit
		}
	}
}

// draft is a digest being filled.
type draft struct {
	fx   *grid.Effects
	msg  *grid.Message
	size int
	full bool
}

func begin(fx *grid.Effects, to grid.NodeID) draft {
	return draft{fx: fx, msg: fx.Send(to, grid.KindDigest)}
}

// add appends an ad, unless the digest would be larger than its bounds.
func (d *draft) add(ad *grid.Ad, hops uint8) bool {
	n := size(ad)
	if len(d.msg.Digest) >= grid.MaxAds || d.size+n > int(grid.MaxDigest) {
		d.full = true
		return false
	}
	d.size += n
	d.msg.Digest = append(d.msg.Digest, grid.AdEntry{Ad: ad, Hops: hops})
	return true
}

// end counts the digest; if it is empty it removes it and returns false.
func (d *draft) end(g *Gossip) bool {
	if len(d.msg.Digest) == 0 {
		d.fx.Sends = d.fx.Sends[:len(d.fx.Sends)-1]
		return false
	}
	g.stats.Digests++
	g.stats.Ads += uint64(len(d.msg.Digest))
	return true
}

// size returns the sealed bytes of an ad, or an upper estimate for an unsealed one: in a simulation, and the own one
// before its driver has sent it.
func size(ad *grid.Ad) int {
	if len(ad.Sealed) > 0 {
		return len(ad.Sealed)
	}
	n := 256 + len(ad.Name) // identity, signature and numbers
	for i := range ad.Labels {
		n += len(ad.Labels[i].Key) + len(ad.Labels[i].Value) + 8
	}
	for i := range ad.Rates {
		n += len(ad.Rates[i].Class) + 24
	}
	for _, s := range ad.Engines {
		n += len(s) + 4
	}
	for _, s := range ad.Addrs {
		n += len(s) + 4
	}
	return min(n, int(grid.MaxAdSize))
}
