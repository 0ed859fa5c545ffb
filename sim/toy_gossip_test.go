package sim

import (
	"skep/grid"
	"skep/node"
	"skep/sim/event"
)

// The engine's bar is measured with a member that does next to nothing: once a second it sends 4 ad entries to 2 of its
// 8 neighbours, and files what it hears in a view of 32. That is 3 events a node and second. Its reference, plainToy,
// is the same protocol as a loop over arrays around the same event queue.
const (
	toyPeers   = 8
	toyFanout  = 2
	toyEntries = 4
	toyView    = 32
	toyPeriod  = grid.Time(1e9)
	toyLatency = 20_000_000 // ns; uniform below
)

// toyRand is a counter that is hashed: 8 bytes, so that the toy's own memory does not hide the engine's.
type toyRand uint64

func (r *toyRand) below(n uint32) uint32 {
	*r++
	return uint32(splitmix(uint64(*r)) >> 32 * uint64(n) >> 32)
}

// toyGossip is the member.
type toyGossip struct {
	rand  toyRand
	met   int
	peers [toyPeers]grid.NodeID
	known [toyView]grid.AdEntry
	ad    grid.Ad
}

func newToyGossip(c node.Config, _ grid.Wall) (Member, error) {
	n := &toyGossip{rand: toyRand(c.Seed), ad: grid.Ad{Node: c.Self, Speed: 1, Capacity: c.Capacity,
		Free: c.Capacity, Availability: 1}}
	for i := range n.known {
		n.known[i].Ad = &n.ad
	}
	return n, nil
}

func (n *toyGossip) Restore(*grid.Record)                   {}
func (n *toyGossip) Jobs(dst []node.JobView) []node.JobView { return dst }
func (n *toyGossip) Stats(grid.Time) node.Stats             { return node.Stats{Free: n.ad.Capacity} }
func (n *toyGossip) Step(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	switch ev.Kind {
	case grid.EvStart:
		fx.Wake(now+grid.Time(n.rand.below(uint32(toyPeriod))), grid.TimerGossip, 0)
	case grid.EvPeerUp:
		if n.met < toyPeers {
			n.peers[n.met] = ev.Peer
			n.met++
			fx.Links = append(fx.Links, grid.Link{Peer: ev.Peer, Keep: true})
		}
	case grid.EvWake:
		fx.Wake(now+toyPeriod, grid.TimerGossip, 0)
		if n.met < toyFanout {
			return
		}
		first := int(n.rand.below(uint32(n.met)))
		for k := range toyFanout {
			m := fx.Send(n.peers[(first+k)%n.met], grid.KindDigest)
			m.Digest = append(m.Digest, grid.AdEntry{Ad: &n.ad})
			for range toyEntries - 1 {
				m.Digest = append(m.Digest, n.known[n.rand.below(toyView)])
			}
		}
	case grid.EvMessage:
		for _, e := range ev.Msg.Digest {
			e.Hops++
			n.known[n.rand.below(toyView)] = e
		}
	}
}

// toySize is the size of the toy's messages: its ads are all of one size.
func toySize(m *grid.Message) int { return sizeFrame + sizeAd*len(m.Digest) }

// plainToy is the reference.
type plainToy struct {
	queue  *event.Ladder
	nodes  []plainNode
	bodies [][toyEntries]plainEntry
	unused []int32
	rand   *grid.Rand
	seq    uint64
	events uint64
}

type plainNode struct {
	rand  toyRand
	peers [toyPeers]int32
	known [toyView]plainEntry
}

type plainEntry struct {
	node int32
	hops uint8
}

func newPlainToy(nodes int) *plainToy {
	p := &plainToy{queue: event.NewLadder(), nodes: make([]plainNode, nodes), rand: grid.NewRand(1, 1)}
	for i := range p.nodes {
		n := &p.nodes[i]
		n.rand = toyRand(i)
		for k := range n.peers {
			n.peers[k] = int32(p.rand.IntN(nodes))
		}
		for k := range n.known {
			n.known[k].node = int32(i)
		}
		p.push(grid.Time(n.rand.below(uint32(toyPeriod))), kindWake, int32(i), 0)
	}
	return p
}

func (p *plainToy) push(at grid.Time, k event.Kind, i int32, arg uint64) {
	p.seq++
	p.queue.Push(event.Event{At: at, Seq: p.seq, Kind: k, Node: i, Arg: arg})
}

func (p *plainToy) runUntil(end grid.Time) {
	for {
		e, _ := p.queue.Pop()
		if e.At > end {
			p.queue.Push(e)
			return
		}
		p.events++
		n := &p.nodes[e.Node]
		if e.Kind == kindMessage {
			for _, x := range p.bodies[e.Arg] {
				x.hops++
				n.known[n.rand.below(toyView)] = x
			}
			p.unused = append(p.unused, int32(e.Arg))
			continue
		}
		p.push(e.At+toyPeriod, kindWake, e.Node, 0)
		first := int(n.rand.below(toyPeers))
		for k := range toyFanout {
			if len(p.unused) == 0 {
				p.bodies = append(p.bodies, [toyEntries]plainEntry{})
				p.unused = append(p.unused, int32(len(p.bodies)-1))
			}
			b := p.unused[len(p.unused)-1]
			p.unused = p.unused[:len(p.unused)-1]
			body := &p.bodies[b]
			body[0] = plainEntry{node: e.Node}
			for x := 1; x < toyEntries; x++ {
				body[x] = n.known[n.rand.below(toyView)]
			}
			p.push(e.At+1+grid.Time(p.rand.Int64N(toyLatency)), kindMessage, n.peers[(first+k)%toyPeers], uint64(b))
		}
	}
}
