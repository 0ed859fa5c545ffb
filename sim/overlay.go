package sim

import (
	"skep/grid"
)

// join writes down whom each node knows before it comes up the first time.
func (w *World) join() {
	for i := range int32(len(w.hosts)) {
		if w.cfg.Network.Mesh {
			for j := range i {
				w.root(i, j)
			}
			continue
		}
		for range min(int(i), w.cfg.Network.Join) {
			w.root(i, int32(w.chance.IntN(int(i))))
		}
	}
}

func (w *World) root(i, j int32) {
	name, side := w.connect(i, j)
	w.conns[name].root[side] = true
}

// rejoin dials whom a node that has just come up knew before, and those it joins.
func (w *World) rejoin(i int32) {
	for _, l := range w.hosts[i].links {
		c := &w.conns[l.conn]
		if s := c.side(i); c.root[s] && !c.busy && !c.up {
			w.dial(l.conn, i)
		}
	}
}

// link does as a node says about its neighbours.
func (w *World) link(i int32, l *grid.Link) {
	j := w.index(l.Peer)
	if j < 0 || j == i {
		w.failf(i, "wants to be connected to %v, which is no other node", l.Peer)
		return
	}
	name, side := w.connect(i, j)
	c := &w.conns[name]
	c.keep[side] = l.Keep
	if l.Keep && !c.up && !c.busy && !c.told[side] {
		w.dial(name, i)
		return
	}
	w.tend(name)
}

// rootsMax bounds the peers that a driver remembers over a crash.
const rootsMax = 16

// sever ends what a crashed node had: it remembers its neighbours, and the others find out later.
func (w *World) sever(i int32) {
	w.gone = w.gone[:0]
	roots := 0
	for _, l := range w.hosts[i].links {
		if c := &w.conns[l.conn]; c.root[c.side(i)] {
			roots++
		}
		w.gone = append(w.gone, l.conn)
	}
	for _, name := range w.gone {
		c := &w.conns[name]
		s := c.side(i)
		if c.keep[s] && !c.root[s] && roots < rootsMax {
			c.root[s] = true
			roots++
		}
		c.keep[s], c.told[s] = false, false
		if c.up {
			c.up, c.look = false, false
			w.push(w.now.Add(w.cfg.Network.Detect), kindDown, c.node[1-s], 0, pair(name, c.gen))
		}
		w.tend(name)
	}
}

// found tells a node that its peer is dead. The peer may have come back since; then the connection has.
func (w *World) found(e *Event) {
	if name, c := w.current(e); c != nil {
		w.end(name)
	}
}

// timeout ends a connection that a cut still keeps from carrying anything.
func (w *World) timeout(e *Event) {
	name, c := w.current(e)
	if c != nil && c.up && (w.apart(c.node[0], c.node[1]) || w.apart(c.node[1], c.node[0])) {
		w.end(name)
	}
}

// idle ends a connection that nobody wants and nobody used.
func (w *World) idle(e *Event) {
	name, c := w.current(e)
	if c == nil {
		return
	}
	c.look = false
	if !c.up || w.wanted(c) {
		return
	}
	if end := c.used.Add(w.cfg.Network.Idle); end > w.now {
		c.look = true
		w.push(end, kindIdle, c.node[0], 0, pair(name, c.gen))
		return
	}
	w.end(name)
}

// cut is a partition: messages between the nodes inside and the others do not pass.
type cut struct {
	inside  []bool
	out, in bool // which way is cut: from the inside, to the inside
}

// apart reports whether messages from i to j are lost.
func (w *World) apart(i, j int32) bool {
	for k := range w.cuts {
		c := &w.cuts[k]
		if a, b := c.inside[i], c.inside[j]; a && !b && c.out || !a && b && c.in {
			return true
		}
	}
	return false
}

// sunder begins a cut. The connections across it do not know of it until they time out.
func (w *World) sunder(c cut) {
	w.cuts = append(w.cuts, c)
	for name := range w.conns {
		k := &w.conns[name]
		if k.up && c.inside[k.node[0]] != c.inside[k.node[1]] {
			d := w.cfg.Network.Timeout
			d += grid.Time(w.chance.Int64N(int64(d)/4 + 1)).Sub(0)
			w.push(w.now.Add(d), kindTimeout, k.node[0], 0, pair(int32(name), k.gen))
		}
	}
}
