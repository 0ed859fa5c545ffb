package discovery

import (
	"hash/fnv"
	"io"
	"slices"
	"time"

	"skep/grid"
)

// The lowest byte of an ID on the wire tells the walks of one search from each other; 0 is the search itself,
// as its caller knows it. Any late answer thus still finds its search, and a walk that follows a failed
// one is new to those who saw that.
const (
	walkBits   = 0xff
	callWalk   = 0xff
	answerWalk = 0xfe // in timers: an answer that this node owes
)

// search is one of this node's own.
type search struct {
	id     uint64
	key    string // canonical needs
	like   uint64
	needs  *grid.Needs
	engine string
	due    grid.Time // the wake that counts; others are stale
	tries  int       // rounds of walks so far
	walks  uint8     // walks so far
	out    [4]uint8  // those that have not ended; 0 = none
	called bool
	full   bool // beyond the bound: never walks
}

// failure remembers that a call found nobody.
type failure struct {
	key   uint64
	until grid.Time
	gap   time.Duration
}

// maxFailures bounds the failures remembered; beyond it the one that ends soonest is forgotten.
const maxFailures = 64

// Search begins a search for a node that meets the needs, or joins one for the same that goes on, and returns its
// ID, never 0. n is kept: it must be part of a JobSpec. The end is reported by Hit, Miss or Wake, always.
func (d *Discovery) Search(now grid.Time, n *grid.Needs, engine string, neighbours []grid.NodeID, fx *grid.Effects) uint64 {
	s := &search{key: canonical(n, engine), like: alike(n, engine), needs: n, engine: engine}
	if len(d.searches) >= d.cfg.Searches {
		s.key, s.full = "", true // shared by all that are too many
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
		d.until(now, s, fx)
	default:
		d.advance(now, s, neighbours, fx)
	}
	return s.id
}

// Cancel ends a search of which nobody wants the end any more. Others may share it: the caller counts.
func (d *Discovery) Cancel(id uint64) {
	d.searches = slices.DeleteFunc(d.searches, func(s *search) bool { return s.id == id })
}

// Hit takes a KindHit message: somebody that meets the needs. What does not fit is dropped.
func (d *Discovery) Hit(now grid.Time, m *grid.Message) (Found, bool) {
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
	d.forward.Learn(now, s.like, ad.Node)
	d.stats.Found++
	d.failed = slices.DeleteFunc(d.failed, func(f failure) bool { return f.key == hash(s.key) })
	d.Cancel(s.id)
	return Found{ID: s.id, Ad: ad, Hops: m.Find.Hops}, true
}

func good(ad *grid.Ad, self grid.NodeID) bool {
	return ad != nil && !ad.Node.IsZero() && ad.Node != self && ad.Check() == nil
}

// Miss takes a KindMiss message: a walk has ended without a find.
func (d *Discovery) Miss(now grid.Time, f *grid.Find, neighbours []grid.NodeID, fx *grid.Effects) (Found, bool) {
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
	if s.out != [4]uint8{} {
		return Found{}, false
	}
	return d.advance(now, s, neighbours, fx)
}

// advance takes the next step of a search all of whose walks have failed: new walks, then the call, then the end.
func (d *Discovery) advance(now grid.Time, s *search, neighbours []grid.NodeID, fx *grid.Effects) (Found, bool) {
	s.out = [4]uint8{}
	if !s.full && !s.called && len(neighbours) > 0 {
		if s.tries <= d.cfg.Retries {
			s.tries++
			d.walk(now, s, neighbours, fx)
			d.until(now.Add(d.cfg.Deadline), s, fx)
			return Found{}, false
		}
		if d.mayCall(now, s) {
			s.called = true
			d.stats.Calls++
			s.fill(&fx.Announce(grid.KindCall).Find, d, callWalk, 0)
			d.until(now.Add(d.cfg.CallWait), s, fx)
			return Found{}, false
		}
	}
	if s.called {
		d.unanswered(now, s)
	}
	d.stats.Failed++
	d.Cancel(s.id)
	return Found{ID: s.id}, true
}

// walk sends out as many walks as there are walkers, to different neighbours where there are enough.
func (d *Discovery) walk(now grid.Time, s *search, neighbours []grid.NodeID, fx *grid.Effects) {
	var sent [4]grid.NodeID
	for i := range d.cfg.Walkers {
		to, ok := d.next(now, s.like, neighbours, sent[:i], d.self, d.self)
		if !ok {
			return
		}
		sent[i] = to
		s.walks++
		s.out[i] = s.walks
		d.stats.Walks++
		s.fill(&fx.Send(to, grid.KindFind).Find, d, s.walks, uint8(d.cfg.Hops))
	}
}

// fill writes a search's own message.
func (s *search) fill(f *grid.Find, d *Discovery, walk uint8, left uint8) {
	f.ID, f.Asker, f.Needs, f.Engine = s.id|uint64(walk), d.self, *s.needs, s.engine
	f.Left, f.Within = left, d.cfg.Deadline
}

// until sets the time at which a search goes on if nothing comes.
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

// mayCall reports whether the last call for the same needs is long enough ago.
func (d *Discovery) mayCall(now grid.Time, s *search) bool {
	for i := range d.failed {
		if f := &d.failed[i]; f.key == hash(s.key) {
			return now >= f.until
		}
	}
	return true
}

// unanswered remembers that a call found nobody: the next one for the same needs waits twice as long.
func (d *Discovery) unanswered(now grid.Time, s *search) {
	f := failure{key: hash(s.key), gap: d.cfg.CallGap}
	for i := range d.failed {
		if d.failed[i].key == f.key {
			f.gap = min(2*d.failed[i].gap, d.cfg.CallMax)
			d.failed = slices.Delete(d.failed, i, i+1)
			break
		}
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

func hash(key string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, key)
	return h.Sum64()
}
