package gossip

import (
	"math/bits"

	"skep/grid"
)

// seeks is how often a node with too few connected neighbours sends its ad again, after MinGap and delays that double:
// 15 MinGaps in all. Those that count it as a neighbour too have it already; one that has no room for it answers with
// ads of others, which it may know only since, if many nodes start at once.
const seeks = 4

// secondExchange is how many MinGaps after the first a connected stranger gets a second exchange: when both nodes know
// what their neighbours know.
const secondExchange = 2

// unlinked, as the hops of the own ad in a digest, tells its receiver that the sender does not count it as a neighbour.
// Otherwise they are 0; versions that do not know this ignore them.
const unlinked = 1

// seek is the search for neighbours after a change of the connected ones. It ends when there are enough, or after
// seeks attempts: in a grid with fewer nodes than Neighbours there are never enough.
type seek struct {
	at    grid.Time // of the next attempt; grid.Never = there is none
	again grid.Time // of the second exchanges with connected strangers; grid.Never = none is due
	met   grid.Time // when an unknown node was last added to the view
	tries uint8     // attempts so far
}

// seekNeighbours begins a search if too few neighbours are connected, or ends it.
func (g *Gossip) seekNeighbours(now grid.Time) {
	if !g.lacksNeighbours() {
		g.seek.at = grid.Never
		return
	}
	g.seek.at, g.seek.tries = min(g.seek.at, now.Add(g.cfg.MinGap)), 0
}

// seekAgain makes the own ad due for the connected neighbours once more.
func (g *Gossip) seekAgain(now grid.Time) {
	g.seek.at = grid.Never
	if g.left || !g.lacksNeighbours() {
		return
	}
	g.due |= g.up
	g.some |= g.up
	if g.seek.tries++; g.seek.tries < seeks {
		g.seek.at = now.Add(g.cfg.MinGap << g.seek.tries)
	}
}

// lacksNeighbours reports whether some neighbour is connected, and too few are.
func (g *Gossip) lacksNeighbours() bool {
	return g.up != 0 && bits.OnesCount64(g.up) < g.cfg.Neighbours
}

// tellStrangers sends connected strangers their second exchange, once on each connection. Where many nodes start at
// once the first one is nearly empty, and two groups that have filled their neighbour sets with themselves may be
// connected by strangers only.
func (g *Gossip) tellStrangers(now grid.Time, fx *grid.Effects) {
	g.seek.again = grid.Never
	for _, p := range g.peers {
		if !p.Up || p.Neighbour || p.link.twice {
			continue
		}
		if at := max(p.link.told.Add(secondExchange*g.cfg.MinGap), p.link.next); now < at {
			g.seek.again = min(g.seek.again, at)
			continue
		}
		p.link.twice = true
		g.exchangeAs(now, p, unlinked, fx)
	}
}

// declines reports whether a digest says that its sender does not count this node as a neighbour.
func declines(digest []grid.AdEntry, from *Peer) bool {
	for i := range digest {
		if e := &digest[i]; e.Ad != nil && e.Ad.Node == from.Node() {
			return e.Hops == unlinked
		}
	}
	return false
}

// bridge handles a stranger's second exchange: a stranger that knows nodes that were unknown here, though the view has
// room, is from another part of the grid, and becomes a neighbour, in place of any other if there are too many.
func (g *Gossip) bridge(now grid.Time, p *Peer, news bool, fx *grid.Effects) {
	switch {
	case !news || p.link.shed || !g.hasRoom():
	case g.room():
		g.take(now, p, fx)
	default:
		q := g.links[g.rand.IntN(len(g.links))]
		g.dismiss(now, q, fx)
		g.swap(now, q, p, fx)
	}
}

// dismiss tells a neighbour that is about to be dropped, so that it looks for another one at once. It is not taken back
// on this connection because it sends digests.
func (g *Gossip) dismiss(now grid.Time, p *Peer, fx *grid.Effects) {
	l := p.linked()
	l.shed = p.Up
	if !p.Up || g.left || now < l.next {
		return
	}
	l.next = now.Add(g.cfg.MinGap)
	d := begin(fx, p.Node())
	d.add(g.emitted, unlinked)
	d.end(g)
}

// declined drops a neighbour that does not count this node as one, since its news would not come, and replaces it if
// there are too few others, or if its digest had nodes that were unknown here. Where many nodes start at
// once, all choose the same few, and most of them have no room. Its successor is one of those in its digest if
// possible: else groups of nodes that joined by the same member, and know each other, would lose their links to other
// groups. If there is no candidate it is kept.
func (g *Gossip) declined(now grid.Time, p *Peer, digest []grid.AdEntry, news bool, fx *grid.Effects) {
	if len(g.links) > g.cfg.Neighbours && !news {
		p.link.shed = true
		g.drop(now, p, fx)
		return
	}
	var c *Peer
	n := 0
	for i := range digest {
		if digest[i].Ad == nil {
			continue
		}
		q := g.Peer(digest[i].Ad.Node)
		if q == nil || !g.eligible(now, q) || q.Up && q.link.shed {
			continue
		}
		if n++; g.rand.IntN(n) == 0 {
			c = q
		}
	}
	if c == nil {
		c = g.pick(now, known)
	}
	if c != nil {
		p.link.shed = true
		g.swap(now, p, c, fx)
		g.seekNeighbours(now)
	}
}
