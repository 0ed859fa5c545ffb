package mesh

import (
	"fmt"
	"sync/atomic"

	"skep/exec/network"
	"skep/grid"
	"skep/node/p2p/lifecycle"
)

// Bounds of what waits in the memory of this node for streams, in bytes: for one node, for all nodes of an attempt, and
// the least for one, some packets of the largest size. Twice as much is taken, since a stream writes one half while the
// other fills. The first is what TCP sends at once at most by the default settings of Linux (tcp_wmem): below it a lone
// connection would lose packets on a fast path.
const (
	mostForNode  = 4 << 20
	mostForAll   = 32 << 20
	leastForNode = 256 << 10
)

// Counts are the packets of an attempt at this node so far.
type Counts struct {
	Sent, Received uint64
	Full           uint64 // dropped: the queue to their node was full
	Forged         uint64 // dropped: not from a rank of the node that sent them, or not for one here
	Invalid        uint64 // dropped: not whole IPv4 packets
	Strays         uint64 // dropped: the pod sent them to no rank, as IPv6 and multicast do
	Refused        uint64 // dropped by the kernel that they were given to
	Streams        uint64 // that were opened to or by other nodes
}

// counters are Counts that are counted at the same time.
type counters struct{ sent, received, full, forged, invalid, strays, refused, streams atomic.Uint64 }

// Member is this node's part in the network of an attempt.
type Member struct {
	mesh   *Mesh
	layout Layout
	device Device
	work   *lifecycle.Group
	links  map[grid.NodeID]*link // fixed
	byRank []*link               // nil: a rank here
	counts counters
}

func newMember(m *Mesh, l Layout, d Device) *Member {
	x := &Member{mesh: m, layout: l, device: d, links: make(map[grid.NodeID]*link),
		byRank: make([]*link, len(l.Nodes))}
	for _, n := range l.Nodes {
		if n != m.cfg.Self {
			x.links[n] = nil
		}
	}
	bound := min(mostForNode, max(leastForNode, mostForAll/max(len(x.links), 1)))
	for n := range x.links {
		x.links[n] = &link{member: x, node: n, queue: newQueue(bound)}
	}
	for r, n := range l.Nodes {
		x.byRank[r] = x.links[n]
	}
	return x
}

func (x *Member) start() {
	x.work = lifecycle.New(x.mesh.work.Context())
	x.work.Go(x.send)
	for n, l := range x.links {
		if x.mesh.cfg.Self.Compare(n) < 0 {
			x.work.Go(l.keepOpen)
		}
	}
}

// Close ends the membership, and closes the device.
func (x *Member) Close() {
	x.work.Cancel()
	x.mesh.leave(x)
	x.device.Close()
	x.work.Wait()
}

// Counts returns the packets so far.
func (x *Member) Counts() Counts {
	c := &x.counts
	return Counts{Sent: c.sent.Load(), Received: c.received.Load(), Full: c.full.Load(), Forged: c.forged.Load(),
		Invalid: c.invalid.Load(), Strays: c.strays.Load(), Refused: c.refused.Load(), Streams: c.streams.Load()}
}

// String says how many packets there were.
func (x *Member) String() string { return fmt.Sprintf("%+v", x.Counts()) }

// send takes packets from the device and puts them into the queues of their nodes.
func (x *Member) send() {
	f := spare.Get().(*frames)
	for {
		n, err := x.device.Read(f.room())
		if err != nil {
			if x.work.Context().Err() == nil {
				x.mesh.cfg.Log.Warn("the network of a gang is lost", "attempt", x.layout.ID, "error", err)
			}
			return
		}
		l := x.linkFor(f.room()[:n])
		if l == nil {
			x.counts.strays.Add(1)
			continue
		}
		f.first(n)
		back, ok := l.queue.put(f)
		if ok {
			x.counts.sent.Add(1)
		} else {
			x.counts.full.Add(1)
		}
		if f = back; f == nil {
			f = spare.Get().(*frames)
		}
	}
}

// linkFor is where a packet of a rank here goes; nil: to no rank elsewhere.
func (x *Member) linkFor(packet []byte) *link {
	p, ok := network.Parse(packet)
	from, known := network.Rank(p.Source, len(x.byRank))
	to, found := network.Rank(p.Dest, len(x.byRank))
	if !ok || !known || !found || x.byRank[from] != nil {
		return nil
	}
	return x.byRank[to]
}
