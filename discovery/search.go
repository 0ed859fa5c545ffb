package discovery

import (
	"slices"

	"skep/grid"
)

// The lowest byte of an ID on the wire distinguishes the walks of one search; 0 is the search itself, as its caller
// knows it. Any late answer thus still finds its search, and a walk that follows a failed one is new to nodes that saw
// that.
const (
	walkBits   = 0xff
	callWalk   = 0xff
	answerWalk = 0xfe // in timers: an answer that this node owes
)

// search is a search of this node.
type search struct {
	id     uint64
	key    string // canonical needs
	hash   uint64 // of key
	like   uint64
	needs  *grid.Needs
	engine string
	due    grid.Time // the valid wake; others are stale
	stage  stage
	tries  int      // rounds of walks so far
	walks  uint8    // walks so far
	out    [4]uint8 // walks that have not ended; 0 = none
	to     [4]grid.NodeID
	full   bool // beyond the bound: sends no walks
}

// stage is the progress of a search.
type stage uint8

const (
	walking stage = iota
	about         // will call, unless another node does
	called
	waiting // for the find of another node's call
	asking  // the node that called
)

// Search begins a search for a node that meets the needs, or joins a running one for the same, and returns its ID,
// never 0. n is kept: it must be part of a JobSpec. The end is always reported, by Hit, Miss or Wake.
func (d *Discovery) Search(now grid.Time, n *grid.Needs, engine string, neighbours []grid.NodeID,
	fx *grid.Effects) uint64 {
	d.begin()
	s := &search{key: canonical(n, engine), like: alike(n, engine), needs: n, engine: engine}
	s.hash = hash(s.key)
	if len(d.searches) >= d.cfg.Searches {
		s.key, s.full = "", true // shared by all searches beyond the bound
	}
	for _, o := range d.searches {
		if o.key == s.key {
			d.stats.Shared++
			return o.id
		}
	}
	for s.id == 0 || d.search(s.id) != nil {
		s.id = d.rand.Uint64() &^ walkBits
	}
	d.stats.Searches++
	d.searches = append(d.searches, s)
	switch {
	case s.full:
		d.stats.Dropped.Full++
		d.until(now.Add(d.cfg.Deadline), s, fx)
	case len(neighbours) == 0:
		d.until(max(now, d.alone), s, fx)
	default:
		d.advance(now, s, neighbours, fx)
	}
	return s.id
}

// Cancel ends a search that nobody waits for. Searches may be shared: the caller counts.
func (d *Discovery) Cancel(id uint64) {
	if d.traffic == nil {
		return
	}
	d.searches = slices.DeleteFunc(d.searches, func(s *search) bool { return s.id == id })
}

// Hit handles a KindHit message: a node that meets the needs. One that does not fit is dropped. With Reverse it may
// also be another asker's report that its walk, which passed here, was met.
func (d *Discovery) Hit(now grid.Time, from grid.NodeID, m *grid.Message) (Found, bool) {
	d.begin()
	if m.Find.Asker != d.self && !m.Find.Asker.IsZero() {
		d.told(now, from, m)
		return Found{}, false
	}
	s := d.search(m.Find.ID &^ walkBits)
	if s == nil {
		d.stats.Dropped.Stale++
		return Found{}, false
	}
	if len(m.Digest) != 1 || !good(m.Digest[0].Ad, d.self) || Fit(s.needs, s.engine, m.Digest[0].Ad) != grid.WhyNone ||
		Now(s.needs, m.Digest[0].Ad).Why != grid.WhyNone {
		d.stats.Dropped.Bad++
		return Found{}, false
	}
	ad := m.Digest[0].Ad
	walk := uint8(m.Find.ID & walkBits)
	if i := slices.Index(s.out[:], walk); walk != 0 && i >= 0 && s.to[i] != ad.Node {
		d.forward.Fail(now, s.like, s.to[i], false)
	}
	d.owe(now, s, m)
	if walk == callWalk {
		d.reached(now, s.hash, ad)
	}
	d.stats.Found++
	d.failed = slices.DeleteFunc(d.failed, func(f failure) bool { return f.key == s.hash })
	d.Cancel(s.id)
	return Found{ID: s.id, Ad: ad, Hops: m.Find.Hops, Called: walk == callWalk}, true
}

func good(ad *grid.Ad, self grid.NodeID) bool {
	return ad != nil && !ad.Node.IsZero() && ad.Node != self && ad.Check() == nil
}

// Miss handles a KindMiss message: a walk has ended without a find.
func (d *Discovery) Miss(now grid.Time, f *grid.Find, neighbours []grid.NodeID, fx *grid.Effects) (Found, bool) {
	d.begin()
	s := d.search(f.ID &^ walkBits)
	i := -1
	if s != nil && f.ID&walkBits != 0 {
		i = slices.Index(s.out[:], uint8(f.ID&walkBits))
	}
	if i < 0 {
		d.stats.Dropped.Stale++
		return Found{}, false
	}
	s.out[i] = 0
	d.forward.Fail(now, s.like, s.to[i], false)
	if s.out != [4]uint8{} {
		return Found{}, false
	}
	return d.advance(now, s, neighbours, fx)
}

// advance takes the next step of a search all of whose walks have failed: new walks, then the call, its own or that of
// another node for the same needs, then the end.
func (d *Discovery) advance(now grid.Time, s *search, neighbours []grid.NodeID, fx *grid.Effects) (Found, bool) {
	for i := range s.out {
		if s.out[i] != 0 { // no answer
			d.forward.Fail(now, s.like, s.to[i], true)
			s.out[i] = 0
		}
	}
	if s.full || len(neighbours) == 0 {
		return d.end(s)
	}
	switch s.stage {
	case walking:
		if s.tries <= d.cfg.Retries {
			s.tries++
			d.walk(now, s, neighbours, fx)
			d.until(now.Add(d.cfg.Deadline), s, fx)
			return Found{}, false
		}
		if h := d.hushed(now, s.hash); h != nil {
			d.follow(now, s, h, fx)
			return Found{}, false
		}
		if d.mayCall(now, s.hash) {
			s.stage = about
			if wait := d.hold(); wait > 0 {
				d.until(now.Add(wait), s, fx)
				return Found{}, false
			}
			d.call(now, s, fx)
			return Found{}, false
		}
	case about:
		if h := d.hushed(now, s.hash); h != nil {
			d.follow(now, s, h, fx)
		} else {
			d.call(now, s, fx)
		}
		return Found{}, false
	case called:
		d.unanswered(now, s.hash)
	case waiting:
		if h := d.hushed(now, s.hash); h != nil {
			s.stage = asking
			d.send(s, h.asker, askHops, fx)
			d.until(now.Add(d.cfg.Deadline), s, fx)
			return Found{}, false
		}
	}
	return d.end(s)
}

// end ends a search that found nobody.
func (d *Discovery) end(s *search) (Found, bool) {
	d.stats.Failed++
	d.Cancel(s.id)
	return Found{ID: s.id}, true
}

// walk sends as many walks as there are walkers, to different nodes if there are enough.
func (d *Discovery) walk(now grid.Time, s *search, neighbours []grid.NodeID, fx *grid.Effects) {
	for i := range d.cfg.Walkers {
		h := Hop{Now: now, Rand: d.rand, Key: s.like, visited: s.to[:i], shut: [3]grid.NodeID{d.self, d.self, d.self}}
		to, ok := d.next(&h, neighbours)
		if !ok {
			return
		}
		s.to[i] = to
		d.send(s, to, d.cfg.Hops, fx)
	}
}

// send sends one walk.
func (d *Discovery) send(s *search, to grid.NodeID, hops int, fx *grid.Effects) {
	i := slices.Index(s.out[:], 0)
	s.walks++
	s.out[i], s.to[i] = s.walks, to
	d.stats.Walks++
	s.fill(&fx.Send(to, grid.KindFind).Find, d, s.walks, uint8(hops))
}

// fill writes a search's own message.
func (s *search) fill(f *grid.Find, d *Discovery, walk uint8, left uint8) {
	f.ID, f.Asker, f.Needs, f.Engine = s.id|uint64(walk), d.self, *s.needs, s.engine
	f.Left, f.Within = left, d.cfg.Deadline
}

// until sets the time at which a search continues if there is no answer.
func (d *Discovery) until(at grid.Time, s *search, fx *grid.Effects) {
	s.due = at
	fx.Wake(at, grid.TimerSearch, s.id)
}

func (d *Discovery) search(id uint64) *search {
	for _, s := range d.searches {
		if s.id == id {
			return s
		}
	}
	return nil
}
