package discovery

import (
	"slices"

	"skep/grid"
)

// maxFinds bounds the finds without an offer; beyond it the oldest is dropped.
const maxFinds = 64

// tryout is a node that was found, until an offer to it shows whether the find was useful.
type tryout struct {
	like uint64
	at   grid.Time
	ad   *grid.Ad
	walk uint64        // its ID on the wire
	path []grid.NodeID // nodes that the walk passed; empty without Reverse
	hint grid.Needs    // for the nodes on the path
	kind string        // engine, likewise
}

// owe records a find.
func (d *Discovery) owe(now grid.Time, s *search, m *grid.Message) {
	f := tryout{like: s.like, at: now, ad: m.Digest[0].Ad, walk: m.Find.ID}
	if d.cfg.Reverse {
		f.path = slices.DeleteFunc(slices.Clone(m.Find.Visited), func(n grid.NodeID) bool {
			return n == d.self ||
				n == f.ad.Node
		})
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

// Tried handles the outcome of an offer: the node took the task or refused it. It matters only for nodes that a search
// found: a request is met when its task is taken. With Reverse the nodes on the walk's path are told.
func (d *Discovery) Tried(now grid.Time, node grid.NodeID, n *grid.Needs, engine string, taken bool, fx *grid.Effects) {
	if d.traffic == nil {
		return
	}
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

// told handles another asker's report that its walk, which passed here, was met.
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
