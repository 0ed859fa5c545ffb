package discovery

import (
	"skep/grid"
)

// Discovery is a node's part in searches: its own, and those of other nodes.
type Discovery struct {
	self     grid.NodeID
	cfg      *Config
	rand     *grid.Rand
	alone    grid.Time // until then a search without neighbours waits for some
	*traffic           // nil before the first search or call, of this node or another: many nodes never have one
}

// traffic is what a node keeps of searches and calls.
type traffic struct {
	forward  Forward
	searches []*search // in the order of their begin
	answers  []answer  // to calls, not due yet
	failed   []failure // own calls that found nobody
	heard    []heard   // calls of other nodes
	answered []reply   // finds of own calls
	untried  []tryout  // finds without an offer
	seen     seen
	limits   []bucket
	eligible []grid.NodeID // scratch of next
	stats    Stats
}

// Local returns the ad of a node that meets the needs, as far as this node knows: its own if it can, else possibly
// another node's, to which the walk then goes to ask; nil if it knows none. The needs are dead after the call.
type Local func(n *grid.Needs, engine string) *grid.Ad

// Found is the end of a search: its find, or a nil Ad. The node is not connected yet; passing Ad to gossip makes it
// known.
type Found struct {
	ID     uint64
	Ad     *grid.Ad
	Hops   uint8 // hops of the walk; 0 when a call found it
	Called bool  // a call found it
}

// Stats are counts since New.
type Stats struct {
	Searches uint64 // begun here
	Shared   uint64 // joined a running search for the same needs
	Walks    uint64 // sent out
	Calls    uint64 // announced
	Found    uint64 // searches that ended with a find
	Failed   uint64 // searches that ended without
	Hits     uint64 // answers to walks and calls of other nodes
	Misses   uint64 // walks of other nodes that ended here
	Passed   uint64 // walks forwarded
	Followed uint64 // searches replaced by another node's call
	Met      uint64 // finds that took a task
	Refused  uint64 // finds that refused it
	Told     uint64 // learnt from walks of other nodes that passed here

	Dropped Dropped
}

// Dropped counts what was received and not used, by reason.
type Dropped struct {
	Bad      uint64 // impossible needs, a forged asker, a find that does not fit
	Rate     uint64 // its sender asks too often
	Loop     uint64 // this node's own walk
	Repeated uint64 // the same message twice
	Stale    uint64 // an answer to a search that has ended
	Full     uint64 // too many calls to answer, or own searches
}

// New returns the discovery of a node. The configuration must be valid; see [Config.Check]. It is not copied, and must
// not change: a simulator's nodes can share one.
func New(self grid.NodeID, c *Config, r *grid.Rand) Discovery {
	if forwards[c.Forward] == nil {
		panic("discovery: forward " + c.Forward + " is not known")
	}
	return Discovery{self: self, cfg: c, rand: r}
}

// begin makes room for searches, once.
func (d *Discovery) begin() {
	if d.traffic == nil {
		d.traffic = &traffic{forward: forwards[d.cfg.Forward](d.cfg)}
	}
}

// Start is the start of the node, without neighbours.
func (d *Discovery) Start(now grid.Time) { d.alone = now.Add(meeting) }

// Stats returns counts since New.
func (d *Discovery) Stats() Stats {
	if d.traffic == nil {
		return Stats{}
	}
	return d.stats
}

// Forward is how searches are forwarded, as configured.
func (d *Discovery) Forward() string { return d.cfg.Forward }

// Wake handles TimerSearch: a walk's or call's deadline, or the time to answer a call. Stale ones, and other timers,
// are ignored. It reports the end of a search.
func (d *Discovery) Wake(now grid.Time, t grid.Timer, neighbours []grid.NodeID, local Local, fx *grid.Effects) (Found,
	bool) {
	if t.Kind != grid.TimerSearch || d.traffic == nil {
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

// next picks the next node of a walk.
func (d *Discovery) next(h *Hop, neighbours []grid.NodeID) (grid.NodeID, bool) {
	d.eligible = d.eligible[:0]
	for _, n := range neighbours {
		if h.Open(n) {
			d.eligible = append(d.eligible, n)
		}
	}
	h.Eligible = d.eligible
	return d.forward.Next(h)
}
