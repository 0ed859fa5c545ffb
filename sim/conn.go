package sim

import (
	"slices"
	"time"

	"skep/grid"
	"skep/sim/event"
)

// conn is a connection between two nodes, or a request for one. What the nodes know of it lags behind: after a crash
// the other side still considers it up.
type conn struct {
	node        [2]int32
	gen         uint32       // counts openings and closings; in-flight messages of another generation are lost
	up          bool         // messages can pass
	reportedUp  [2]bool      // the node of that side got PeerUp, and no PeerDown since
	requested   [2]bool      // the node of that side asked for it
	persistent  [2]bool      // the driver of that side wants it: a node that it joined, or knew before a crash
	dialing     bool         // a dial is under way or scheduled
	idleCheck   bool         // an idle check is scheduled
	failures    uint8        // failed dials in a row
	dialEnd     grid.Time    // when the dial under way ends
	lastUsed    grid.Time    // when it last carried a message
	lastArrival [2]grid.Time // when the last message from that side arrives: order is kept
	next        int32        // in the free list
}

// anyGen marks a message that was sent before there was a connection.
const anyGen = 1<<32 - 1

// minGrowth is the least number of links by which a node's list grows.
const minGrowth = 4

// link is an entry of a node's connections.
type link struct{ peer, conn int32 }

// side returns which side of c a node is; -1 if none, as the connection was closed and its entry reused.
func (c *conn) side(i int32) int {
	switch i {
	case c.node[0]:
		return 0
	case c.node[1]:
		return 1
	}
	return -1
}

// wanted reports whether a node that is up, or its driver, wants the connection.
func (w *World) wanted(c *conn) bool {
	for s := range 2 {
		if (c.requested[s] || c.persistent[s]) && w.hosts[c.node[s]].up {
			return true
		}
	}
	return false
}

// dialerSide returns the side that has to dial: it is up, wants the connection and knows that there is none; -1 if
// neither has to.
func (w *World) dialerSide(c *conn) int {
	for s := range 2 {
		if (c.requested[s] || c.persistent[s]) && !c.reportedUp[s] && w.hosts[c.node[s]].up {
			return s
		}
	}
	return -1
}

// findConn returns the index of the link to a peer, or where it would be inserted.
func findConn(links []link, peer int32) (int, bool) {
	lo, hi := 0, len(links)
	for lo < hi {
		if mid := (lo + hi) / 2; links[mid].peer < peer {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(links) && links[lo].peer == peer
}

// connect returns the connection of two nodes, allocated if there is none, and the side of i.
func (w *World) connect(i, j int32) (name int32, side int) {
	at, ok := findConn(w.hosts[i].links, j)
	if ok {
		name = w.hosts[i].links[at].conn
		return name, w.conns[name].side(i)
	}
	if i > j {
		name, _ = w.connect(j, i)
		return name, 1
	}
	if w.freeConn == 0 {
		w.conns = append(w.conns, conn{})
		w.freeConn = int32(len(w.conns))
	}
	name = w.freeConn - 1
	c := &w.conns[name]
	w.freeConn = c.next
	*c = conn{node: [2]int32{i, j}, gen: c.gen + 1, lastUsed: w.now}
	w.hosts[i].links = slices.Insert(grid.Room(w.hosts[i].links, minGrowth), at, link{j, name})
	at, _ = findConn(w.hosts[j].links, i)
	w.hosts[j].links = slices.Insert(grid.Room(w.hosts[j].links, minGrowth), at, link{i, name})
	return name, 0
}

// maintainConn does what a connection needs after a change: dial it, schedule an idle check, or free it.
func (w *World) maintainConn(name int32) {
	c := &w.conns[name]
	switch {
	case c.node[0] < 0: // freed while its end was reported
	case c.up && !c.idleCheck && !w.wanted(c):
		c.idleCheck = true
		w.push(w.now.Add(w.cfg.Network.Idle), kindIdle, c.node[0], 0, packRef(name, c.gen))
	case !c.up && !c.dialing && w.dialerSide(c) >= 0:
		c.dialing = true
		pause := min(time.Second/4<<min(c.failures, 16), w.cfg.Network.Redial)
		pause = pause/2 + time.Duration(w.rng.Int64N(int64(pause)))
		w.push(w.now.Add(pause), kindRedial, c.node[0], 0, packRef(name, c.gen))
	case !c.up && !c.dialing && c.reportedUp == [2]bool{} && c.requested == [2]bool{} && c.persistent == [2]bool{}:
		for s := range 2 {
			h := &w.hosts[c.node[s]]
			at, _ := findConn(h.links, c.node[1-s])
			h.links = slices.Delete(h.links, at, at+1)
		}
		c.node = [2]int32{-1, -1}
		c.gen++
		c.next, w.freeConn = w.freeConn, name+1
	}
}

// dial begins a three-way handshake.
func (w *World) dial(name, from int32) {
	c := &w.conns[name]
	to := c.node[0] + c.node[1] - from
	c.dialing = true
	c.dialEnd = w.now.Add(w.latency(from, to) + w.latency(to, from) + w.latency(from, to))
	w.counts.Dials++
	w.push(c.dialEnd, kindDial, from, 0, packRef(name, c.gen))
}

// current returns the connection that an event is about, nil if it was opened or closed since.
func (w *World) current(e *event.Event) (int32, *conn) {
	name, gen := unpackRef(e.Arg)
	if c := &w.conns[name]; c.gen == gen {
		return name, c
	}
	return name, nil
}

func (w *World) redial(e *event.Event) {
	name, c := w.current(e)
	if c == nil {
		return
	}
	c.dialing = false
	if s := w.dialerSide(c); s >= 0 && !c.up {
		w.dial(name, c.node[s])
		return
	}
	w.maintainConn(name)
}

// dialDone ends a handshake.
func (w *World) dialDone(e *event.Event) {
	name, c := w.current(e)
	if c == nil {
		return
	}
	c.dialing = false
	i, j := c.node[0], c.node[1]
	if !w.hosts[i].up || !w.hosts[j].up || w.isCut(i, j) || w.isCut(j, i) || w.isBlocked(i, j) || w.isBlocked(j, i) {
		c.failures = min(c.failures+1, 100)
		w.maintainConn(name)
		return
	}
	if !w.meet(i, j) {
		w.maintainConn(name)
		return
	}
	c.up, c.failures, c.lastUsed = true, 0, w.now
	c.gen++
	c.lastArrival = [2]grid.Time{}
	for s := range 2 {
		w.notifyUp(name, s)
	}
	w.maintainConn(name)
}

// notifyUp sends PeerUp to a side that considers the connection down. A node that has not noticed its peer's death is
// told nothing when the peer is back: to it the connection never ended.
func (w *World) notifyUp(name int32, s int) {
	c := &w.conns[name]
	i, j := c.node[s], c.node[1-s]
	if c.reportedUp[s] || !w.hosts[i].up {
		return
	}
	c.reportedUp[s] = true
	w.peerKnown(i, j)
	w.books.Hindsight().Met(w.now, i, j)
	w.ev = grid.Event{Kind: grid.EvPeerUp, Peer: w.hosts[j].id, RTT: w.latency(i, j) + w.latency(j, i),
		Kinds: w.kindsOf(j), Features: w.featuresOf(j)}
	w.step(i, &w.ev)
}

// notifyDown sends PeerDown to a side that considers the connection up.
func (w *World) notifyDown(name int32, s int) {
	c := &w.conns[name]
	i, j := c.node[s], c.node[1-s]
	if !c.reportedUp[s] {
		return
	}
	c.reportedUp[s] = false
	w.peerGone(i, j)
	if w.hosts[i].up {
		w.ev = grid.Event{Kind: grid.EvPeerDown, Peer: w.hosts[j].id}
		w.step(i, &w.ev)
	}
}

// closeConn closes a connection for both sides.
func (w *World) closeConn(name int32) {
	c := &w.conns[name]
	c.up, c.dialing, c.idleCheck = false, false, false
	c.gen++
	for s := range 2 {
		w.notifyDown(name, s)
	}
	w.maintainConn(name)
}
