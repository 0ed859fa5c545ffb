package discovery

import (
	"skep/grid"
)

// Discovery is a node's part in searches: its own, and those of others that come by.
type Discovery struct {
	self    grid.NodeID
	cfg     Config
	rand    *grid.Rand
	forward Forward

	searches []*search // in the order they began
	answers  []answer  // to calls, that wait for their moment
	failed   []failure // calls that found nobody
	seen     seen
	limits   []bucket
	eligible []grid.NodeID // scratch of next
	stats    Stats
}

// Local returns an ad of a node that meets the needs, as far as the node asked knows: its own, or that of a peer
// it is connected to; nil if it knows none. The needs are dead after the call.
type Local func(n *grid.Needs, engine string) *grid.Ad

// Found is the end of a search: its find, or a nil Ad. The node has still to be connected to; handing Ad to
// gossip makes it known.
type Found struct {
	ID   uint64
	Ad   *grid.Ad
	Hops uint8 // that the walk had gone; 0 when a call found it
}

// Stats are counts since New.
type Stats struct {
	Searches uint64 // begun here
	Shared   uint64 // asked for while the same one went on
	Walks    uint64 // sent out
	Calls    uint64 // announced
	Found    uint64 // searches that ended with a find
	Failed   uint64 // and without
	Hits     uint64 // answers given to walks and calls of others
	Misses   uint64 // walks of others that ended here
	Passed   uint64 // walks handed on

	Dropped Dropped
}

// Dropped counts what came and was not used, by reason.
type Dropped struct {
	Bad      uint64 // impossible needs, a forged asker, a find that does not fit
	Rate     uint64 // its sender asks too much
	Loop     uint64 // this node's own walk, come back
	Repeated uint64 // the same message twice
	Stale    uint64 // an answer to a search that has ended
	Full     uint64 // too many calls to answer, or own searches
}

// New makes the discovery of a node. The configuration must be good; see [Config.Check].
func New(self grid.NodeID, c Config, r *grid.Rand) *Discovery {
	f, ok := forwards[c.Forward]
	if !ok {
		panic("discovery: forward " + c.Forward + " is not known")
	}
	return &Discovery{self: self, cfg: c, rand: r, forward: f()}
}

// Stats returns counts since New.
func (d *Discovery) Stats() Stats { return d.stats }

// Wake handles TimerSearch: a walk's or call's deadline, or the moment to answer a call. Stale ones, and other
// timers, are ignored. It reports the end of a search.
func (d *Discovery) Wake(now grid.Time, t grid.Timer, neighbours []grid.NodeID, local Local, fx *grid.Effects) (Found, bool) {
	if t.Kind != grid.TimerSearch {
		return Found{}, false
	}
	if t.Key&walkBits == answerWalk {
		d.answer(now, t.Key, local, fx)
		return Found{}, false
	}
	s := d.search(t.Key)
	if s == nil || now < s.due {
		return Found{}, false
	}
	return d.advance(now, s, neighbours, fx)
}

// next picks where a walk goes, among the neighbours that are none of the given.
func (d *Discovery) next(now grid.Time, key uint64, neighbours, visited []grid.NodeID, from, asker grid.NodeID) (grid.NodeID, bool) {
	d.eligible = d.eligible[:0]
next:
	for _, n := range neighbours {
		if n == from || n == asker || n == d.self {
			continue
		}
		for _, v := range visited {
			if n == v {
				continue next
			}
		}
		d.eligible = append(d.eligible, n)
	}
	if len(d.eligible) == 0 {
		return grid.NodeID{}, false
	}
	return d.forward.Next(now, d.rand, key, d.eligible), true
}
