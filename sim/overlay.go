package sim

import (
	"skep/grid"
	"skep/sim/event"
)

// drawKnownPeers draws the peers that each node knows before its first start.
func (w *World) drawKnownPeers() {
	for i := range int32(len(w.hosts)) {
		if w.cfg.Network.Mesh {
			for j := range i {
				w.addPersistent(i, j)
			}
			continue
		}
		for range min(int(i), w.cfg.Network.Join) {
			w.addPersistent(i, int32(w.rng.IntN(int(i))))
		}
	}
}

func (w *World) addPersistent(i, j int32) {
	name, side := w.connect(i, j)
	w.conns[name].persistent[side] = true
}

// dialKnown dials the peers that a starting node knows.
func (w *World) dialKnown(i int32) {
	for _, l := range w.hosts[i].links {
		c := &w.conns[l.conn]
		if s := c.side(i); c.persistent[s] && !c.dialing && !c.up {
			w.dial(l.conn, i)
		}
	}
}

// setLink carries out a node's decision about a neighbour.
func (w *World) setLink(i int32, l *grid.Link) {
	j := w.index(l.Peer)
	if j < 0 || j == i {
		w.failf(i, "wants to be connected to %v, which is no other node", l.Peer)
		return
	}
	name, side := w.connect(i, j)
	c := &w.conns[name]
	c.requested[side] = l.Keep
	if l.Keep && !c.up && !c.dialing && !c.reportedUp[side] {
		w.dial(name, i)
		return
	}
	w.maintainConn(name)
}

// maxPersistent bounds the peers that a driver remembers over a crash.
const maxPersistent = 16

// dropConns drops the connections of a crashed node: its driver remembers its neighbours, and these notice later.
func (w *World) dropConns(i int32) {
	w.dropped = w.dropped[:0]
	roots := 0
	for _, l := range w.hosts[i].links {
		if c := &w.conns[l.conn]; c.persistent[c.side(i)] {
			roots++
		}
		w.dropped = append(w.dropped, l.conn)
	}
	for _, name := range w.dropped {
		c := &w.conns[name]
		s := c.side(i)
		if c.requested[s] && !c.persistent[s] && roots < maxPersistent {
			c.persistent[s] = true
			roots++
		}
		c.requested[s], c.reportedUp[s] = false, false
		if c.up {
			c.up, c.idleCheck = false, false
			w.push(w.now.Add(w.cfg.Network.Detect), kindDown, c.node[1-s], 0, packRef(name, c.gen))
		}
		w.maintainConn(name)
	}
}

// peerDied closes a connection whose peer died. If the peer is back, a new connection is unaffected.
func (w *World) peerDied(e *event.Event) {
	if name, c := w.current(e); c != nil {
		w.closeConn(name)
	}
}

// timeout closes a connection that is still cut.
func (w *World) timeout(e *event.Event) {
	name, c := w.current(e)
	if c != nil && c.up && (w.isCut(c.node[0], c.node[1]) || w.isCut(c.node[1], c.node[0])) {
		w.closeConn(name)
	}
}

// idle closes a connection that is neither wanted nor used.
func (w *World) idle(e *event.Event) {
	name, c := w.current(e)
	if c == nil {
		return
	}
	c.idleCheck = false
	if !c.up || w.wanted(c) {
		return
	}
	if end := c.lastUsed.Add(w.cfg.Network.Idle); end > w.now {
		c.idleCheck = true
		w.push(end, kindIdle, c.node[0], 0, packRef(name, c.gen))
		return
	}
	w.closeConn(name)
}

// cut is a partition: messages between the nodes inside and the others are lost.
type cut struct {
	inside  []bool
	out, in bool // which way is cut: from the inside, to the inside
}

// isCut reports whether messages from i to j are lost.
func (w *World) isCut(i, j int32) bool {
	for k := range w.cuts {
		c := &w.cuts[k]
		if a, b := c.inside[i], c.inside[j]; a && !b && c.out || !a && b && c.in {
			return true
		}
	}
	return false
}

// addCut begins a cut. Connections across it stay up until they time out.
func (w *World) addCut(c cut) {
	w.cuts = append(w.cuts, c)
	for name := range w.conns {
		k := &w.conns[name]
		if k.up && c.inside[k.node[0]] != c.inside[k.node[1]] {
			d := w.cfg.Network.Timeout
			d += grid.Time(w.rng.Int64N(int64(d)/4 + 1)).Sub(0)
			w.push(w.now.Add(d), kindTimeout, k.node[0], 0, packRef(int32(name), k.gen))
		}
	}
}
