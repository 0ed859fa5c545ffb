package sim

import (
	"time"

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

// Offences, as the real driver counts them: it tolerates maxOffences at once and one more in each forgiveAfter, then
// ends the connection and refuses others for minBlock, doubled each time up to maxBlock.
const (
	maxOffences  = 20
	forgiveAfter = 10 * time.Second
	minBlock     = time.Minute
	maxBlock     = time.Hour
)

// pair is a node and a peer of it.
type pair struct{ node, peer int32 }

// offender is a peer that offended a node, as that node's driver counts it.
type offender struct {
	allowance float64 // offences that are still tolerated
	last      grid.Time
	block     time.Duration
	until     grid.Time
}

// countOffence counts an offence of a peer against node i, and blocks the peer when it exceeds its allowance.
func (w *World) countOffence(i int32, id grid.NodeID) {
	j := w.index(id)
	if j < 0 || j == i {
		return
	}
	o := w.offenders[pair{i, j}]
	if o == nil {
		o = &offender{allowance: maxOffences, last: w.now, block: minBlock}
		if w.offenders == nil {
			w.offenders = make(map[pair]*offender)
		}
		w.offenders[pair{i, j}] = o
	}
	o.allowance = min(o.allowance+w.now.Sub(o.last).Seconds()/forgiveAfter.Seconds(), maxOffences)
	o.last = w.now
	if o.allowance--; o.allowance >= 0 || w.now < o.until {
		return
	}
	o.until, o.allowance = w.now.Add(o.block), maxOffences
	o.block = min(2*o.block, maxBlock)
	w.counts.CutOff++
	w.push(w.now, kindBlock, i, 0, uint64(j))
}

// endBlocked ends a node's connection to a peer that it has blocked.
func (w *World) endBlocked(e *event.Event) {
	if name, _ := w.connect(e.Node, int32(e.Arg)); w.conns[name].up {
		w.closeConn(name)
	} else {
		w.maintainConn(name)
	}
}

// isBlocked reports whether node i refuses connections to node j.
func (w *World) isBlocked(i, j int32) bool {
	o := w.offenders[pair{i, j}]
	return o != nil && w.now < o.until
}
