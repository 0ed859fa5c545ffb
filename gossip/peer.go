package gossip

import (
	"slices"
	"time"

	"skep/grid"
)

// Peer is the view entry of another node. It is read only outside this package and valid until the next call that
// changes the Gossip. It takes 64 bytes, one cache line: every received ad needs one.
type Peer struct {
	Ad        *grid.Ad      // newest received; nil while it is connected and has sent none
	Heard     grid.Time     // when Ad was received
	RTT       time.Duration // smoothed round trip; 0 = not measured
	Hops      uint8         // hops that Ad travelled, 1 = from the node itself; 0 = no ad yet
	Up        bool          // connected
	Neighbour bool          // chosen as neighbour, connected or about to be

	// Fields that scans of the view read are contiguous, up to due.
	lucky  bool      // kept at random
	worth  int8      // of Ad; see worth
	source uint8     // of the rule adaptive: the link that its news comes over
	slot   uint16    // of the rule adaptive: index of the links that its news is not sent over
	due    uint64    // neighbours that its ad is to be forwarded to, a bit each
	sent   *grid.Ad  // ad that was last forwarded
	sentAt grid.Time // when sent was forwarded
	link   *link     // of nodes that are or recently were connected or neighbours
}

// link is the state of a connection, apart from the view entry.
type link struct {
	node    *grid.NodeID // identity, until an ad names it
	since   grid.Time    // when it became a neighbour, or ceased to be one or to be connected
	next    grid.Time    // no digest to it before, except farewells
	told    grid.Time    // when it last got an exchange
	talked  grid.Time    // when its last digest came
	said    grid.Time    // when its last direct answer came
	introAt grid.Time    // start of the period in which intros is counted
	intros  uint16       // unknown nodes that it brought into a full view since introAt
	answers uint8        // exchanges that it got because it went on sending, on this connection
	owes    uint8        // digests that came from it, a stranger, since it was answered
	twice   bool         // it got its second exchange as a stranger, on this connection
	shed    bool         // was dropped on this connection: not taken again because it sends digests
	place   uint8        // of a neighbour: index of its bit in every due; noPlace = it is none
}

const noPlace = 64

// bit returns a neighbour's bit in every due; 0 if it is none.
func (l *link) bit() uint64 { return 1 << l.place }

// Fresh returns when the newest information about it came: its ad, or a direct answer.
func (p *Peer) Fresh() grid.Time {
	if p.link == nil {
		return p.Heard
	}
	return max(p.Heard, p.link.said)
}

// Node returns its identity.
func (p *Peer) Node() grid.NodeID { return *p.node() }

// node is Node without a copy: each ad has the identity already.
func (p *Peer) node() *grid.NodeID {
	if p.Ad != nil {
		return &p.Ad.Node
	}
	return p.link.node
}

// smoothing is the share of a new round trip in the smoothed one, as in TCP: one eighth.
const smoothing = 8

func (p *Peer) measure(rtt time.Duration) {
	switch {
	case rtt <= 0:
	case p.RTT == 0:
		p.RTT = rtt
	default:
		p.RTT += (rtt - p.RTT) / smoothing
	}
}

// linked returns p's link and makes it if there is none.
func (p *Peer) linked() *link {
	if p.link == nil {
		p.link = &link{since: never, next: never, told: never, talked: never, said: never, introAt: never, place: noPlace}
	}
	return p.link
}

// slab is how many peers are allocated together: scans of the view then touch few pieces of memory. In objects beyond
// 512 bytes the runtime puts a header first, and no peer would be within one cache line.
const slab = 8

// blank returns memory for a peer.
func (g *Gossip) blank() *Peer {
	if len(g.spare) == 0 {
		piece := make([]Peer, min(slab, g.cfg.View))
		for i := range piece {
			g.spare = append(g.spare, &piece[i])
		}
		slices.Reverse(g.spare)
	}
	n := len(g.spare) - 1
	p := g.spare[n]
	g.spare = g.spare[:n]
	return p
}

// never is a time before all others, for what has not happened; subtracting it does not overflow.
const never = grid.Time(-1 << 61)
