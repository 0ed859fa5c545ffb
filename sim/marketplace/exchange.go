package marketplace

import "skep/balance/market"

// match is what the matcher does with a message, about a task or none, or at a tick [1, appendix A.2].
func (e *engine) match(ev event, t *task) {
	m := e.matchers[ev.to]
	if t != nil {
		m = e.matchers[t.owner]
	}
	switch ev.kind {
	case tick:
		m.matches = m.book.Tick(e.now, m.matches[:0])
		for _, x := range m.matches {
			e.assign(e.task(x.Query.ID), x.Offer)
		}
		e.at(e.now+e.interval(), event{kind: tick, to: ev.to})
	case toMatcher:
		e.query(t)
	case requery:
		if t.at == ev.server && !t.running && !t.done { // else it goes on, or has moved
			m.book.Cancel(&t.query)
			t.query.From = ev.server
			e.query(t)
		}
	case slower:
		q := t.query // of its own: an earlier one may wait still
		q.Runs, q.From, q.Slower = true, ev.server, e.servers[ev.server].speed*e.servers[ev.server].available()
		if o := m.book.Query(e.now, &q); o != nil {
			e.move(t, ev.server, o, true)
		}
	case cancel:
		m.book.Cancel(&t.query)
	case told:
		n := e.read(ev.news)
		e.offered(m, m.hear(n), n.freed)
	case missed:
		e.offered(m, m.missed(ev.server, t.query.ID), true)
	case refused:
		m.hear(e.read(ev.news))
		e.query(t)
	}
}

// query looks for a server for a task that is at none, or suspended.
func (e *engine) query(t *task) {
	if o := e.matchers[t.owner].book.Query(e.now, &t.query); o != nil {
		e.assign(t, o)
	}
}

// task returns a task that the matcher knows.
func (e *engine) task(id uint64) *task { return e.tasks.get(uint32(id)) }

// offered lets those that run elsewhere, then those that wait, have a changed offer.
func (e *engine) offered(m *matcher, o *market.Offer, freed bool) {
	if freed {
		if from := m.book.Attract(o); from != nil {
			if t := e.task(from.Running); t != nil && !t.done && e.mayMove(t) && m.book.InTime(e.now, o, &t.query) {
				m.book.Take(o, t.query.ID, t.query.Bid)
				e.move(t, from.Server, o, true)
				return
			}
		}
	}
	if q := m.book.Update(e.now, o); q != nil {
		e.assign(e.task(q.ID), o)
	}
}

// assign tells whoever has a task of its server. An owner has it itself.
func (e *engine) assign(t *task, o *market.Offer) {
	if t.query.From >= 0 { // it is suspended there
		e.move(t, t.query.From, o, false)
		return
	}
	e.matchers[t.owner].sent(o, &t.query)
	if e.sys.Owners > 0 {
		e.send(event{kind: data, server: o.Server, task: t.id()}, t.query.Size)
		return
	}
	e.send(event{kind: matched, server: o.Server, task: t.id()}, 0)
}

// move tells the server that has a task to send it on.
func (e *engine) move(t *task, from int32, o *market.Offer, runs bool) {
	if t.stops > 0 { // an earlier query of it may wait
		e.matchers[t.owner].book.Cancel(&t.query)
	}
	e.matchers[t.owner].sent(o, &t.query)
	e.send(event{kind: migrate, server: from, task: t.id(), to: o.Server, runs: runs}, 0)
}
