package dependency

import (
	"slices"

	"skep/grid"
	"skep/sparse"
)

// The side of the job that is waited for.

// subscriptions are who waits for the jobs here, and is told when they end.
type subscriptions struct {
	by    sparse.Map[grid.JobID, *awaited]
	count int       // of all jobs
	now   grid.Time // of the last step
	sweep grid.Time // the expired ones are looked for then
	dirty []*awaited
}

// awaited is a job that others wait for.
type awaited struct {
	job     grid.JobID
	by      []subscriber
	changed []uint32 // tasks that have changed in this step
}

// Key returns the job.
func (a *awaited) Key() grid.JobID { return a.job }

// subscriber is a dependency of another job.
type subscriber struct {
	node   grid.NodeID
	number uint64
	each   bool
	wanted []uint32 // tasks whose files are wanted
	until  grid.Time
}

// asked answers a question, and remembers who asked it.
func (d *Dependencies) asked(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) {
	d.now = now
	o, known, gone := d.cfg.Jobs.OutcomeOf(now, g.Job, from)
	answer := grid.RegisterOK
	switch {
	case gone:
		answer = grid.RegisterGone
	case !known || o.Outsider:
		answer = grid.RegisterUnknown
	case !o.MayTell:
		answer = grid.RegisterHigher
	}
	if answer != grid.RegisterOK {
		m := fx.Send(from, grid.KindAwaited)
		m.Register.Job, m.Register.Seq, m.Register.Answer, m.Register.Owner = g.Job, g.Seq, answer, o.Owner
		return
	}
	s := subscriber{node: from, number: g.Seq, each: g.More, until: now.Add(keepAsked)}
	for i := range g.Entries[:min(len(g.Entries), grid.MaxJobInputs)] {
		s.wanted = append(s.wanted, g.Entries[i].Index)
	}
	d.subscribe(now, g.Job, &s)
	if !s.each {
		d.tellWhole(g.Job, &o, &s, fx)
		return
	}
	d.tellPage(g.Job, &o, &s, g.Next, fx)
}

// subscribe remembers a subscriber, or renews it. One that asks for too much is not remembered, and asks again.
func (d *Dependencies) subscribe(now grid.Time, id grid.JobID, s *subscriber) {
	d.dropExpired(now)
	a := d.by.Get(id)
	if a != nil {
		for i := range a.by {
			if x := &a.by[i]; x.node == s.node && x.number == s.number {
				*x = *s
				return
			}
		}
	}
	if d.count >= maxSubscribed || d.countOf(s.node) >= maxSubscriptions {
		return
	}
	if a == nil {
		a = &awaited{job: id}
		d.by.Put(a)
	}
	a.by = append(a.by, *s)
	d.count++
}

func (d *Dependencies) countOf(id grid.NodeID) (n int) {
	if d.count < maxSubscriptions {
		return 0
	}
	for a := range d.by.All() {
		for i := range a.by {
			if a.by[i].node == id {
				n++
			}
		}
	}
	return n
}

// dropExpired forgets who has not asked again for long.
func (d *Dependencies) dropExpired(now grid.Time) {
	if now < d.sweep {
		return
	}
	d.sweep = now.Add(keepAsked)
	var empty []grid.JobID
	for a := range d.by.All() {
		before := len(a.by)
		a.by = slices.DeleteFunc(a.by, func(s subscriber) bool { return s.until <= now })
		d.count -= before - len(a.by)
		if len(a.by) == 0 {
			empty = append(empty, a.job)
		}
	}
	for _, id := range empty {
		d.by.Drop(id)
	}
}

// Keeps reports whether a job that has ended is kept since another one waits for it: its owner has asked within the
// last five minutes. It asks at least every two until it has recorded what it needs.
func (d *Dependencies) Keeps(id grid.JobID) bool {
	a := d.by.Get(id)
	return a != nil && slices.ContainsFunc(a.by, func(s subscriber) bool { return s.until > d.now })
}

// Settle tells who waits for them what has become of the tasks that have changed, and reports whether something of it
// is for this node.
func (d *Dependencies) Settle(now grid.Time, fx *grid.Effects) (local bool) {
	d.now = now
	if d.count == 0 {
		d.changed = len(fx.Changed)
		return false
	}
	for ; d.changed < len(fx.Changed); d.changed++ {
		t := fx.Changed[d.changed]
		if a := d.by.Get(t.Job); a != nil {
			if len(a.changed) == 0 {
				d.dirty = append(d.dirty, a)
			}
			a.changed = append(a.changed, t.Index)
		}
	}
	for k, a := range d.dirty {
		d.dirty[k] = nil
		local = d.tellNews(now, a, fx) || local
		a.changed = a.changed[:0]
	}
	d.dirty = d.dirty[:0]
	return local
}
