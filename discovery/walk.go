package discovery

import (
	"encoding/binary"
	"slices"
	"time"

	"skep/grid"
)

// maxAnswers bounds the calls that this node has still to answer.
const maxAnswers = 64

// answer is this node's pending answer to a call.
type answer struct {
	timer  uint64
	id     uint64
	asker  grid.NodeID
	needs  grid.Needs
	engine string
}

// Find handles another node's walk: it is answered, forwarded in one copy, or ended.
func (d *Discovery) Find(now grid.Time, from grid.NodeID, f *grid.Find, neighbours []grid.NodeID, local Local,
	fx *grid.Effects) {
	d.begin()
	if f.Asker == d.self {
		d.stats.Dropped.Loop++ // the deadline handles it
		return
	}
	if !d.allow(now, from, f) {
		return
	}
	hops := min(f.Hops, grid.MaxHops-1) + 1
	if first, before := d.seen.add(now, d.cfg, f, from); before {
		if first == head(from) {
			d.stats.Dropped.Repeated++ // by the network: the walk continues
			return
		}
		d.miss(f, hops, fx)
		return
	}
	ad := d.ask(local, &f.Needs, f.Engine, f.Asker)
	if ad != nil && ad.Node == d.self {
		d.hit(f, hops, ad, fx)
		return
	}
	if found := d.passOn(now, from, f); found != nil {
		d.hit(f, hops, found, fx)
		return
	}
	left := min(f.Left, uint8(d.cfg.Hops))
	if left <= 1 || f.Within <= 0 {
		d.miss(f, hops, fx)
		return
	}
	visited := f.Visited
	if len(visited) >= grid.MaxVisited {
		visited = visited[len(visited)-grid.MaxVisited+1:]
	}
	to, ok := d.onward(now, f, ad, neighbours, visited, from)
	if !ok {
		d.miss(f, hops, fx)
		return
	}
	d.stats.Passed++
	g := &fx.Send(to, grid.KindFind).Find
	g.Visited = append(append(g.Visited, visited...), d.self)
	g.ID, g.Asker, g.Needs, g.Engine = f.ID, f.Asker, clone(&f.Needs), f.Engine
	g.Left, g.Hops, g.Within = left-1, hops, min(f.Within, time.Hour)
}

// onward picks the next node of a walk: one that fits by its ad, else that of the strategy.
func (d *Discovery) onward(now grid.Time, f *grid.Find, ad *grid.Ad, neighbours, visited []grid.NodeID,
	from grid.NodeID) (grid.NodeID, bool) {
	h := Hop{Now: now, Rand: d.rand, Key: alike(&f.Needs, f.Engine), visited: visited,
		shut: [3]grid.NodeID{d.self, from, f.Asker}}
	if ad != nil && h.Open(ad.Node) {
		return ad.Node, true
	}
	return d.next(&h, neighbours)
}

// Call handles a call announced by from. If this node itself meets the needs, it answers after a delay, so that not
// all answers come at once.
func (d *Discovery) Call(now grid.Time, from grid.NodeID, f *grid.Find, local Local, fx *grid.Effects) {
	if f.Asker == d.self {
		return
	}
	d.begin()
	if f.Asker != from {
		d.stats.Dropped.Bad++
		return
	}
	if !d.allow(now, from, f) {
		return
	}
	if _, before := d.seen.add(now, d.cfg, f, from); before {
		d.stats.Dropped.Repeated++
		return
	}
	d.hear(now, f)
	if d.itself(local, &f.Needs, f.Engine, f.Asker) == nil {
		return
	}
	if len(d.answers) >= maxAnswers {
		d.stats.Dropped.Full++
		return
	}
	a := answer{timer: d.rand.Uint64()&^walkBits | answerWalk, id: f.ID, asker: f.Asker, needs: clone(&f.Needs),
		engine: f.Engine}
	d.answers = append(d.answers, a)
	fx.Wake(now.Add(time.Duration(d.rand.Int64N(int64(d.cfg.CallDelay)+1))), grid.TimerSearch, a.timer)
}

// answer answers a call if this node still meets the needs.
func (d *Discovery) answer(_ grid.Time, timer uint64, local Local, fx *grid.Effects) {
	i := slices.IndexFunc(d.answers, func(a answer) bool { return a.timer == timer })
	if i < 0 {
		return
	}
	a := d.answers[i]
	d.answers = slices.Delete(d.answers, i, i+1)
	if ad := d.itself(local, &a.needs, a.engine, a.asker); ad != nil {
		d.hit(&grid.Find{ID: a.id, Asker: a.asker}, 0, ad, fx)
	}
}

// ask returns a node that this node knows, itself first, that could take a task with these needs now.
func (d *Discovery) ask(local Local, n *grid.Needs, engine string, asker grid.NodeID) *grid.Ad {
	ad := local(n, engine)
	if ad == nil || ad.Node == asker || Fit(n, engine, ad) != grid.WhyNone || Now(n, ad).Why != grid.WhyNone {
		return nil
	}
	return ad
}

// itself is ask for this node only: every node hears a call.
func (d *Discovery) itself(local Local, n *grid.Needs, engine string, asker grid.NodeID) *grid.Ad {
	if ad := d.ask(local, n, engine, asker); ad != nil && ad.Node == d.self {
		return ad
	}
	return nil
}

// allow reports whether another node's search is handled at all.
func (d *Discovery) allow(now grid.Time, from grid.NodeID, f *grid.Find) bool {
	if !d.spend(now, from) {
		d.stats.Dropped.Rate++
		return false
	}
	if f.ID == 0 || f.Asker.IsZero() || len(f.Engine) > grid.MaxClass || f.Needs.Check() != nil {
		d.stats.Dropped.Bad++
		return false
	}
	return true
}

// hit reports a find directly to the asker.
func (d *Discovery) hit(f *grid.Find, hops uint8, ad *grid.Ad, fx *grid.Effects) {
	d.stats.Hits++
	m := fx.Send(f.Asker, grid.KindHit)
	m.Find.ID, m.Find.Asker, m.Find.Hops = f.ID, f.Asker, hops
	if d.cfg.Reverse {
		m.Find.Visited = append(m.Find.Visited, f.Visited[:min(len(f.Visited), grid.MaxVisited)]...)
	}
	m.Digest = append(m.Digest, grid.AdEntry{Ad: ad})
}

// miss reports to the asker that its walk ended here.
func (d *Discovery) miss(f *grid.Find, hops uint8, fx *grid.Effects) {
	d.stats.Misses++
	m := fx.Send(f.Asker, grid.KindMiss)
	m.Find.ID, m.Find.Asker, m.Find.Hops = f.ID, f.Asker, hops
}

// head returns the first bytes of an identity, enough to distinguish nodes in practice.
func head(n grid.NodeID) uint64 { return binary.BigEndian.Uint64(n[:]) }
