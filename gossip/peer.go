package gossip

import (
	"slices"
	"time"

	"skep/grid"
)

// Peer is what is known of another node. It is read only outside this package and valid until the next
// call that changes the Gossip. It takes 64 bytes, a line of the processor's cache: every ad that comes needs one.
type Peer struct {
	Ad        *grid.Ad      // the newest heard; nil while it is connected and has not said anything yet
	Heard     grid.Time     // when Ad came
	RTT       time.Duration // smoothed round trip; 0 = not measured
	Hops      uint8         // links that Ad came, 1 = from itself; 0 = no ad yet
	Up        bool          // there is a connection
	Neighbour bool          // chosen as neighbour, connected or about to be

	// What is looked at when the whole view is gone through stands together, up to due.
	lucky  bool      // kept for no other reason than that a few are
	worth  int8      // of Ad; see worth
	source uint8     // of the rule adaptive: the link that its news comes over
	slot   uint16    // and where the links are that its news need not be sent over
	due    uint64    // neighbours that its ad is to be handed to, a bit each
	sent   *grid.Ad  // what of it was handed on last
	sentAt grid.Time // and when
	link   *link     // of those that are or were lately connected or neighbours
}

// link is what is kept of a connection beyond what is known of the node at its end.
type link struct {
	node    *grid.NodeID // whose it is, until an ad says it
	since   grid.Time    // when it became a neighbour, or ceased to be one or to be connected
	next    grid.Time    // no digest to it before, unless somebody leaves
	told    grid.Time    // when it was last given an exchange
	talked  grid.Time    // when its last digest came
	said    grid.Time    // when a direct answer of it came last
	introAt grid.Time    // since when intros is counted
	intros  int32        // unknown nodes it has brought into a full view since
	owes    uint8        // digests that came from it, a stranger, since it was answered
	shed    bool         // was let go on this connection: is not taken again because it talks
	place   uint8        // of a neighbour: the place of its bit in every due; noPlace = it is none
}

const noPlace = 64

// bit is a neighbour's bit in every due; 0 where it is none.
func (l *link) bit() uint64 { return 1 << l.place }

// Fresh is when the newest of it came: its ad, or a direct answer.
func (p *Peer) Fresh() grid.Time {
	if p.link == nil {
		return p.Heard
	}
	return max(p.Heard, p.link.said)
}

// Node is whose peer it is.
func (p *Peer) Node() grid.NodeID { return *p.node() }

// node is that without a copy: a view holds many, and each ad names its node already.
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

// slab is how many peers are allocated together: a view is gone through often, and lies in few pieces. Of pieces beyond 512 bytes
// the runtime takes the first word for itself, and no peer would be in one line.
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

// never is a time before all others, for what has not happened yet; what is subtracted from it does not overflow.
const never = grid.Time(-1 << 61)
