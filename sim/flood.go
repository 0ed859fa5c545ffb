package sim

import (
	"skep/grid"
	"skep/sim/event"
)

// flood is an announcement in flight: each node that it reaches sends it to all nodes connected to it.
type flood struct {
	msg  grid.Message
	from int32
	hops int      // in flight
	seen []uint64 // a bit for each node that it has reached
	next int32    // in the free list
}

// announce begins a flood.
func (w *World) announce(i int32, m *grid.Message) {
	w.counts.Announced[m.Kind]++
	w.noteTakeover(i, m)
	if m = w.carry(i, m); m == nil {
		return
	}
	if w.freeFlood == 0 {
		w.floods = append(w.floods, flood{})
		w.freeFlood = int32(len(w.floods))
	}
	name := w.freeFlood - 1
	f := &w.floods[name]
	w.freeFlood = f.next
	if f.seen == nil {
		f.seen = make([]uint64, len(w.hosts)/64+1)
	}
	clear(f.seen)
	copyMessage(&f.msg, m)
	f.from, f.hops = i, 0
	f.seen[i/64] |= 1 << (i % 64)
	w.forwardFlood(name, i)
	w.releaseFlood(name)
}

// forwardFlood sends a flood from node i to its connected nodes.
func (w *World) forwardFlood(name, i int32) {
	f := &w.floods[name]
	size := 0
	if w.cfg.Network.Bandwidth > 0 {
		size = w.cfg.Network.Size(&f.msg)
	}
	for _, l := range w.hosts[i].links {
		c := &w.conns[l.conn]
		if f.seen[l.peer/64]&(1<<(l.peer%64)) != 0 || !c.up || !c.reportedUp[c.side(i)] {
			continue
		}
		w.counts.Hops++
		wait := w.transmitDelay(i, size)
		if w.isCut(i, l.peer) || w.draw(w.cfg.Network.Loss) {
			w.counts.Lost++
			continue
		}
		f.hops++
		w.push(w.now.Add(wait+w.latency(i, l.peer)), kindHop, l.peer, 0, uint64(name))
	}
}

// hop delivers a flood to a node.
func (w *World) hop(e *event.Event) {
	name, i := int32(e.Arg), e.Node
	f := &w.floods[name]
	f.hops--
	if w.hosts[i].up && f.seen[i/64]&(1<<(i%64)) == 0 {
		f.seen[i/64] |= 1 << (i % 64)
		w.forwardFlood(name, i)
		if w.kindsOf(i).Has(f.msg.Kind) {
			w.deliverAnnouncement(i, f)
		}
	}
	w.releaseFlood(name)
}

// deliverAnnouncement gives an announcement to a node, in memory of its own for the step.
func (w *World) deliverAnnouncement(i int32, f *flood) {
	b := w.bodies.take(&f.msg)
	m := w.bodies.message(b)
	w.ev = grid.Event{Kind: grid.EvAnnounce, Peer: w.hosts[f.from].id, Msg: m}
	w.step(i, &w.ev)
	if w.cfg.Check >= CheckPoison {
		poison(m)
	}
	w.bodies.free(b)
}

// releaseFlood frees a flood without messages in flight.
func (w *World) releaseFlood(name int32) {
	if f := &w.floods[name]; f.hops == 0 {
		f.next, w.freeFlood = w.freeFlood, name+1
	}
}
