package discovery

import (
	"slices"

	"skep/grid"
)

// maxFinds bounds the finds of which it is not known yet whether the task was taken; beyond it the oldest goes.
const maxFinds = 64

// tryout is a node that was found, until an offer to it says whether that was worth anything.
type tryout struct {
	like uint64
	at   grid.Time
	ad   *grid.Ad
	walk uint64        // its ID on the wire
	path []grid.NodeID // it came by; empty without Reverse
	hint grid.Needs    // for those on the path
	kind string        // engine, the same
}

// owe remembers a find.
func (d *Discovery) owe(now grid.Time, s *search, m *grid.Message) {
	f := tryout{like: s.like, at: now, ad: m.Digest[0].Ad, walk: m.Find.ID}
	if d.cfg.Reverse {
		f.path = slices.DeleteFunc(slices.Clone(m.Find.Visited), func(n grid.NodeID) bool { return n == d.self || n == f.ad.Node })
		f.hint, f.kind = *s.needs, s.engine
	}
	d.untried = slices.DeleteFunc(d.untried, func(o tryout) bool {
		return o.like == f.like && o.ad.Node == f.ad.Node || now.Sub(o.at) >= d.cfg.Age
	})
	if len(d.untried) >= maxFinds {
		d.untried = slices.Delete(d.untried, 0, 1)
	}
	d.untried = append(d.untried, f)
}

// Tried tells what came of an offer of a task: the node took it or refused it. Only of one that a search had found is
// that news: a request is met when its task is taken. With Reverse those on the way of the walk are told.
func (d *Discovery) Tried(now grid.Time, node grid.NodeID, n *grid.Needs, engine string, taken bool, fx *grid.Effects) {
	i := slices.IndexFunc(d.untried, func(f tryout) bool { return f.ad.Node == node })
	if i < 0 {
		return // nearly always
	}
	like := alike(n, engine)
	i = slices.IndexFunc(d.untried, func(f tryout) bool { return f.ad.Node == node && f.like == like })
	if i < 0 {
		return
	}
	f := d.untried[i]
	d.untried = slices.Delete(d.untried, i, i+1)
	if !taken {
		d.stats.Refused++
		d.answered = slices.DeleteFunc(d.answered, func(a reply) bool { return a.ad.Node == node })
		d.forward.Fail(now, like, node, false)
		return
	}
	d.stats.Met++
	d.forward.Learn(now, like, f.ad)
	for _, to := range f.path {
		m := fx.Send(to, grid.KindHit)
		m.Find.ID, m.Find.Asker, m.Find.Needs, m.Find.Engine = f.walk, d.self, f.hint, f.kind
		m.Digest = append(m.Digest, grid.AdEntry{Ad: f.ad})
	}
}

// told takes the word of an asker that its walk, which came by here, was met.
func (d *Discovery) told(now grid.Time, from grid.NodeID, m *grid.Message) {
	f := &m.Find
	switch {
	case !d.cfg.Reverse:
		d.stats.Dropped.Stale++
	case f.Asker != from || len(m.Digest) != 1 || !good(m.Digest[0].Ad, d.self):
		d.stats.Dropped.Bad++
	case !d.allow(now, from, f):
	case !d.seen.has(f):
		d.stats.Dropped.Stale++
	case Fit(&f.Needs, f.Engine, m.Digest[0].Ad) != grid.WhyNone:
		d.stats.Dropped.Bad++
	default:
		d.stats.Told++
		d.forward.Learn(now, alike(&f.Needs, f.Engine), m.Digest[0].Ad)
	}
}
