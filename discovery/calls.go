package discovery

import (
	"math"
	"slices"
	"time"

	"skep/grid"
)

// failure is a call of this node that found nobody.
type failure struct {
	key   uint64
	until grid.Time
	gap   time.Duration
}

// heard is a call of another node: until its time no other node is to call for the same needs.
type heard struct {
	failure
	asker grid.NodeID
	at    grid.Time
}

// reply is the find of a call of this node, for nodes whose searches wait for it.
type reply struct {
	key   uint64
	ad    *grid.Ad
	until grid.Time
}

// maxFailures bounds the remembered calls of each kind; beyond it the one that ends soonest is forgotten.
const maxFailures = 64

// mostHeard bounds the calls of one node among those that suppress others or did so recently: with more it could evict
// the memory of its last one, and suppress again.
const mostHeard = 8

// callers is the approximate number of nodes that the delay of a call is made for; see hold.
const callers = 256

// hold draws how long a node waits before it calls, so that of many nodes with the same needs at once a few call and
// the others hear them [3]:
//
//	CallHold · max(0, 1 + ln x / ln 256),   x uniform in (0, 1]
//
// Few draw a short delay and most a long one, so that the number that call before they have heard the first grows with
// a small power of the number of nodes.
func (d *Discovery) hold() time.Duration {
	x := 1 - d.rand.Float64()
	return time.Duration(float64(d.cfg.CallHold) * max(0, 1+math.Log(x)/math.Log(callers)))
}

// askHops is how many hops a walk to a node that has called makes: it may know more than its find.
const askHops = 4

// call announces a call to all nodes.
func (d *Discovery) call(now grid.Time, s *search, fx *grid.Effects) {
	s.stage = called
	d.stats.Calls++
	s.fill(&fx.Announce(grid.KindCall).Find, d, callWalk, 0)
	d.until(now.Add(d.cfg.CallWait), s, fx)
}

// follow waits until another node's call has been answered, and then for a random while, to ask it for its find.
func (d *Discovery) follow(now grid.Time, s *search, h *heard, fx *grid.Effects) {
	s.stage = waiting
	d.stats.Followed++
	at := max(now, h.at.Add(d.cfg.CallWait))
	d.until(at.Add(time.Duration(d.rand.Int64N(int64(d.cfg.CallDelay)+1))), s, fx)
}

// mayCall reports whether this node's last call for the same needs is long enough ago.
func (d *Discovery) mayCall(now grid.Time, key uint64) bool {
	for i := range d.failed {
		if d.failed[i].key == key {
			return now >= d.failed[i].until
		}
	}
	return true
}

// hushed returns the call of another node that a call for the same needs has to wait for.
func (d *Discovery) hushed(now grid.Time, key uint64) *heard {
	for i := range d.heard {
		if h := &d.heard[i]; h.key == key && now < h.until {
			return h
		}
	}
	return nil
}

// unanswered records that a call found nobody: the next one for the same needs waits twice as long.
func (d *Discovery) unanswered(now grid.Time, key uint64) {
	f := failure{key: key, gap: d.cfg.CallGap}
	i := slices.IndexFunc(d.failed, func(o failure) bool { return o.key == key })
	if i >= 0 {
		f.gap = min(2*d.failed[i].gap, d.cfg.CallMax)
		d.failed = slices.Delete(d.failed, i, i+1)
	}
	if len(d.failed) >= maxFailures {
		first := 0
		for i := range d.failed {
			if d.failed[i].until < d.failed[first].until {
				first = i
			}
		}
		d.failed = slices.Delete(d.failed, first, first+1)
	}
	f.until = now.Add(f.gap)
	d.failed = append(d.failed, f)
}

// hear records another node's call. A call within the time that an earlier one suppresses others does not extend that,
// nor does the same asker suppress twice in a row: otherwise one node could silence the grid for ever.
func (d *Discovery) hear(now grid.Time, f *grid.Find) {
	h := heard{failure: failure{key: hash(canonical(&f.Needs, f.Engine)), gap: d.cfg.CallGap}, asker: f.Asker, at: now}
	i := slices.IndexFunc(d.heard, func(o heard) bool { return o.key == h.key })
	switch {
	case i < 0 && d.callsOf(now, f.Asker) >= mostHeard:
		return
	case i < 0 && len(d.heard) < maxFailures:
		d.heard = append(d.heard, heard{})
		i = len(d.heard) - 1
	case i < 0:
		i = 0
		for k := range d.heard {
			if d.heard[k].until < d.heard[i].until {
				i = k
			}
		}
	default:
		o := &d.heard[i]
		if now < o.until || o.asker == f.Asker {
			return
		}
		if now < o.until.Add(d.cfg.CallMax) {
			h.gap = min(2*o.gap, d.cfg.CallMax)
		}
	}
	h.until = now.Add(h.gap)
	d.heard[i] = h
}

// callsOf counts the calls of a node that suppress others, or did so no longer than CallMax ago.
func (d *Discovery) callsOf(now grid.Time, asker grid.NodeID) (n int) {
	for i := range d.heard {
		if h := &d.heard[i]; h.asker == asker && now < h.until.Add(d.cfg.CallMax) {
			n++
		}
	}
	return n
}

// reached records the find of a call, as long as the call suppresses others.
func (d *Discovery) reached(now grid.Time, key uint64, ad *grid.Ad) {
	d.answered = slices.DeleteFunc(d.answered, func(a reply) bool { return a.key == key || now >= a.until })
	if len(d.answered) >= maxFailures {
		d.answered = slices.Delete(d.answered, 0, 1)
	}
	d.answered = append(d.answered, reply{key, ad, now.Add(d.cfg.CallGap)})
}

// passOn returns the find of this node's call, for a walk that its asker sent straight here. The askers that wait for
// the answer all come at about the same time: forwarding their walks would exceed what one peer may ask of another.
func (d *Discovery) passOn(now grid.Time, from grid.NodeID, f *grid.Find) *grid.Ad {
	if len(d.answered) == 0 || from != f.Asker {
		return nil
	}
	key := hash(canonical(&f.Needs, f.Engine))
	for i := range d.answered {
		if a := &d.answered[i]; a.key == key && now < a.until && a.ad.Node != f.Asker {
			return a.ad
		}
	}
	return nil
}
