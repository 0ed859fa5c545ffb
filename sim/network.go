package sim

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"skep/grid"
	"skep/sim/codec"
	"skep/sim/event"
)

// Network models the transport of messages. Times are one way.
type Network struct {
	// Latency is drawn for each message; nil = 1 ms for all.
	Latency Latency

	// Loss, Duplicate and Reorder are the shares of messages that are lost, arrive twice, or are delayed by up to
	// Jitter so that others overtake them; other messages keep their order on a connection.
	Loss, Duplicate, Reorder float64
	Jitter                   time.Duration // 0 = 100 ms

	// Size is the size of a message on the wire, in bytes; nil = [MessageSize]. Bandwidth is how many bytes a node
	// sends in a second, to all others together: a message or announcement waits for those sent before and takes its
	// size over Bandwidth longer; 0 = unbounded.
	Size      func(m *grid.Message) int
	Bandwidth grid.Bytes

	// Mesh connects all nodes, as discovery in a LAN does. Otherwise a node knows Join nodes of lower index, drawn at
	// random, and stays connected to them; 0 = 3.
	Mesh bool
	Join int

	// Detect is how long its peers do not notice a node's death; 0 = 1 s. Timeout is the same for a cut, where no
	// connection is reset; 0 = 10 s.
	Detect, Timeout time.Duration

	// Idle is how long an unused connection that neither side requested stays open; 0 = 5 minutes.
	Idle time.Duration

	// Redial is the longest back-off between dials; 0 = 30 s.
	Redial time.Duration

	// Bytes has messages be carried as bytes, and what nodes save be read from bytes.
	Bytes bool

	// Kinds are the message kinds that a node understands; nil = all.
	Kinds func(i int) grid.KindSet

	// Features are those of the version that a node's run of that number has, from 1; nil = those that the rest of the
	// world has in use. Kinds and labels that came with others are left out.
	Features func(i int, run uint64) grid.FeatureSet
}

func (n *Network) defaults() {
	if n.Latency == nil {
		n.Latency = Constant(time.Millisecond)
	}
	if n.Size == nil {
		n.Size = MessageSize
	}
	n.Jitter = cmp.Or(n.Jitter, 100*time.Millisecond)
	n.Detect = cmp.Or(n.Detect, time.Second)
	n.Timeout = cmp.Or(n.Timeout, 10*time.Second)
	n.Idle = cmp.Or(n.Idle, 5*time.Minute)
	n.Redial = cmp.Or(n.Redial, 30*time.Second)
	n.Join = cmp.Or(n.Join, 3)
	if n.Kinds == nil {
		n.Kinds = func(int) grid.KindSet { return grid.AllKinds }
	}
}

func (n *Network) check() error {
	var errs []error
	for _, p := range [...]struct {
		name string
		v    float64
	}{{"loss", n.Loss}, {"duplicate", n.Duplicate}, {"reorder", n.Reorder}} {
		if !(p.v >= 0 && p.v <= 1) {
			errs = append(errs, fmt.Errorf("sim: network %s %g: want a share, 0 to 1", p.name, p.v))
		}
	}
	for _, d := range [...]time.Duration{n.Jitter, n.Detect, n.Timeout, n.Idle, n.Redial, time.Duration(n.Join)} {
		if d < 0 {
			errs = append(errs, fmt.Errorf("sim: network: a time or number is negative (%d): want 0 for the default, or more",
				d))
		}
	}
	if n.Bandwidth < 0 {
		errs = append(errs, fmt.Errorf("sim: network bandwidth %d bytes/s: want 0 for no bound, or more", n.Bandwidth))
	}
	return errors.Join(errs...)
}

// network is the state of the modelled network.
type network struct {
	bodies    bodyPool
	floods    []flood
	freeFlood int32 // free list of floods, from 1
	conns     []conn
	freeConn  int32 // free list of connections, from 1
	cuts      []cut
	dropped   []int32 // scratch
	counts    Traffic
	offenders map[pair]*offender // nil while there are none
	codec     *codec.Codec       // nil = messages are carried as they are
	wireFree  []grid.Time        // by node: when its last message is on the wire; nil without a bandwidth
}

// Traffic counts messages.
type Traffic struct {
	Sent      [grid.Kinds]uint64
	Bytes     [grid.Kinds]uint64 // of those sent
	Announced [grid.Kinds]uint64 // without hops
	Hops      uint64             // of announcements
	Lost      uint64             // at random, by a cut, or with a connection
	Unknown   uint64             // of a kind that the receiver does not list
	Dials     uint64
	Hostile   uint64 // sent by hostile nodes; not in Sent and Bytes
	CutOff    uint64 // times that a node's driver blocked an offender
	Walks     uint64 // searches started
	Found     uint64 // hits sent back; at most one for each walk
	FoundHops uint64 // hops of those hits
}

// send puts a message on its way.
func (w *World) send(i int32, to grid.NodeID, m *grid.Message) {
	j := w.index(to)
	if j < 0 || j == i {
		w.failf(i, "sends a %v to %v, which is no other node", m.Kind, to)
		return
	}
	w.noteSent(i, to)
	size := w.cfg.Network.Size(m)
	if w.hosts[i].hostile != 0 {
		w.counts.Hostile++
	} else {
		w.counts.count(m, size)
	}
	if !w.kindsOf(j).Has(m.Kind) {
		w.counts.Unknown++
		return
	}
	ci, side := w.connect(i, j)
	c := &w.conns[ci]
	c.lastUsed = w.now
	var wait time.Duration
	gen := c.gen
	switch {
	case !c.reportedUp[side]: // the driver dials first; the message arrives if that succeeds
		if !c.dialing {
			w.dial(ci, i)
			c = &w.conns[ci]
		}
		if wait, gen = c.dialEnd.Sub(w.now), anyGen; wait < 0 { // back-off after a failed dial
			w.counts.Lost++
			return
		}
	case !c.up:
		w.counts.Lost++ // the other side is dead; not noticed yet
		return
	}
	wait += w.transmitDelay(i, size)
	if m = w.carry(i, m); m == nil {
		return
	}
	copies := 1
	if w.draw(w.cfg.Network.Duplicate) {
		copies = 2
	}
	for range copies {
		if w.isCut(i, j) || w.draw(w.cfg.Network.Loss) {
			w.counts.Lost++
			continue
		}
		at := w.now.Add(wait + w.latency(i, j))
		if w.draw(w.cfg.Network.Reorder) {
			at += grid.Time(w.rng.Int64N(int64(w.cfg.Network.Jitter) + 1))
		} else {
			at = max(at, c.lastArrival[side])
			c.lastArrival[side] = at
		}
		b := w.bodies.take(m)
		body := w.bodies.at(b)
		body.from, body.conn, body.gen = i, ci, gen
		w.seq++ // a message is for whichever run of its node is up: to read that node's here would be a cache miss
		w.queue.Push(event.Event{At: at, Seq: w.seq, Arg: uint64(b), Node: j, Kind: kindMessage})
	}
}

// transmitDelay returns how long it takes until a message of that size from node i is on the wire, behind those that
// it sent before.
func (w *World) transmitDelay(i int32, size int) time.Duration {
	b := w.cfg.Network.Bandwidth
	if b == 0 {
		return 0
	}
	if w.wireFree == nil {
		w.wireFree = make([]grid.Time, len(w.hosts))
	}
	w.wireFree[i] = max(w.wireFree[i], w.now).Add(grid.Seconds(float64(size) / float64(b)))
	return w.wireFree[i].Sub(w.now)
}

// arrive delivers a message if the connection that it was sent on is still open.
func (w *World) arrive(e *event.Event) {
	b := int32(e.Arg)
	body := w.bodies.at(b)
	c := &w.conns[body.conn]
	side := c.side(e.Node)
	if !w.hosts[e.Node].up || side < 0 || !c.reportedUp[side] || c.node[1-side] != body.from ||
		body.gen != anyGen && body.gen != c.gen {
		w.counts.Lost++
	} else {
		m := w.bodies.message(b)
		w.ev = grid.Event{}
		w.ev.Kind, w.ev.Peer, w.ev.Msg = grid.EvMessage, nodeID(int(body.from), w.cfg.Seed), m
		w.step(e.Node, &w.ev)
		if w.cfg.Check >= CheckPoison {
			poison(m)
		}
	}
	w.bodies.free(b)
}

// draw reports true with probability p.
func (w *World) draw(p float64) bool { return p > 0 && w.rng.Float64() < p }

// latency draws the latency of a message.
func (w *World) latency(i, j int32) time.Duration {
	d := w.cfg.Network.Latency(int(i), int(j), w.rng)
	if slow := w.hosts[i].slow; slow > 1 {
		d = time.Duration(float64(d) * slow)
	}
	return max(d, 0)
}

// Latency draws how long a message takes from one node to another.
type Latency func(from, to int, r *grid.Rand) time.Duration

// Constant is the same latency for every message.
func Constant(d time.Duration) Latency {
	return func(int, int, *grid.Rand) time.Duration { return d }
}

// Uniform is uniform between lo and hi.
func Uniform(lo, hi time.Duration) Latency {
	return func(_, _ int, r *grid.Rand) time.Duration { return lo + time.Duration(r.Int64N(int64(hi-lo)+1)) }
}
