package dependency

import (
	"slices"

	"skep/grid"
)

// What those that wait for a job are told.

// tellNews tells who waits for a job what has ended of it in this step.
func (d *Dependencies) tellNews(now grid.Time, a *awaited, fx *grid.Effects) (local bool) {
	o, known, _ := d.cfg.Jobs.OutcomeOf(now, a.job, d.cfg.Self)
	if !known || !o.MayTell {
		return false
	}
	slices.Sort(a.changed) // a task may change twice in a step
	a.changed = slices.Compact(a.changed)
	for i := range a.by {
		s := &a.by[i]
		sent := len(fx.Sends)
		switch {
		case s.until <= now || !s.each && !o.Over:
		case s.each:
			d.tellEach(a, &o, s, fx)
		default:
			d.tellWhole(a.job, &o, s, fx)
		}
		local = local || len(fx.Sends) > sent && s.node == d.cfg.Self
	}
	return local
}

// reply begins an answer of one that can tell.
func reply(id grid.JobID, o *Outcome, s *subscriber, fx *grid.Effects) *grid.RegisterMessage {
	m := fx.Send(s.node, grid.KindAwaited)
	g := &m.Register
	g.Job, g.Seq, g.Answer, g.Owner, g.Done, g.Count = id, s.number, grid.RegisterOK, o.Owner, o.Over, o.Spec.Count
	return g
}

// tellWhole tells whether all of a job has ended, and how, with the ends of the tasks whose files are wanted.
func (d *Dependencies) tellWhole(id grid.JobID, o *Outcome, s *subscriber, fx *grid.Effects) {
	g := reply(id, o, s, fx)
	if !o.Over {
		return
	}
	summary := &grid.Result{Cause: grid.Exited, Exit: o.Exit}
	if o.Cancelled {
		summary.Cause = grid.Cancelled
	}
	g.Entries = append(g.Entries, grid.Entry{Index: summaryIndex, Result: summary})
	size := 0
	for _, i := range s.wanted {
		if i >= o.Spec.Count {
			continue
		}
		e := d.entry(grid.TaskID{Job: id, Index: i})
		if e.Result == nil || size+e.Weight() > int(grid.MaxEntriesSize) {
			continue
		}
		size += e.Weight()
		g.Entries = append(g.Entries, e)
	}
}

// entry returns the end of a task as others are told it: how, and the files that it has left.
func (d *Dependencies) entry(id grid.TaskID) grid.Entry {
	r := d.cfg.Jobs.EndOf(id)
	if r == nil {
		return grid.Entry{Index: id.Index}
	}
	return grid.Entry{Index: id.Index, Result: &grid.Result{Cause: r.Cause, Exit: r.Exit, Outputs: r.Outputs}}
}

// tellEach tells the ends of the tasks that have changed.
func (d *Dependencies) tellEach(a *awaited, o *Outcome, s *subscriber, fx *grid.Effects) {
	var g *grid.RegisterMessage
	size := 0
	for _, i := range a.changed {
		e := d.entry(grid.TaskID{Job: a.job, Index: i})
		if e.Result == nil {
			continue
		}
		if !slices.Contains(s.wanted, 0) {
			e.Result.Outputs = nil
		}
		if size += e.Weight(); g == nil || len(g.Entries) == grid.MaxEntries || size > int(grid.MaxEntriesSize) {
			g, size = reply(a.job, o, s, fx), e.Weight()
		}
		g.Entries = append(g.Entries, e)
	}
}

// tellPage tells the ends from a task on, as far as they fit into a message.
func (d *Dependencies) tellPage(id grid.JobID, o *Outcome, s *subscriber, next uint32, fx *grid.Effects) {
	g := reply(id, o, s, fx)
	size := 0
	for i := next; i < o.Spec.Count; i++ {
		e := d.entry(grid.TaskID{Job: id, Index: i})
		if e.Result == nil {
			continue
		}
		if !slices.Contains(s.wanted, 0) {
			e.Result.Outputs = nil
		}
		if size += e.Weight(); len(g.Entries) == grid.MaxEntries || len(g.Entries) > 0 && size > int(grid.MaxEntriesSize) {
			g.Next, g.More = i, true
			return
		}
		g.Entries = append(g.Entries, e)
	}
	g.Next = o.Spec.Count
}
