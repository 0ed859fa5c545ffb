package marketplace

import (
	"math"

	"skep/balance/market"
)

// replan sets the event of a server's next completion.
func (e *engine) replan(s *server) {
	if at, t := s.plan(e.now); !math.IsInf(at, 1) {
		e.at(at, event{kind: completion, server: s.index, version: s.version, task: t.id()})
	}
}

// tell sends all matchers a server's news.
func (e *engine) tell(s *server, ended, freed bool) {
	n := s.news(e.now, ended, freed)
	for k := range e.matchers {
		n.arrived = s.arrived[k]
		e.send(event{kind: told, to: int32(k), news: e.write(&n)}, 0)
	}
}

// write puts news into a letter, and returns its index.
func (e *engine) write(n *news) (at int32) {
	if k := len(e.spare); k > 0 {
		at, e.spare = e.spare[k-1], e.spare[:k-1]
	} else {
		at = int32(len(e.letters))
		e.letters = append(e.letters, news{})
	}
	e.letters[at] = *n
	return at
}

// read returns a letter's news; it is free for others then.
func (e *engine) read(at int32) *news {
	e.spare = append(e.spare, at)
	return &e.letters[at]
}

// receives takes a task's data at a server.
func (e *engine) receives(s *server, t *task) {
	s.advance(e.now)
	s.arrived[t.owner]++
	if e.sys.Owners > 0 && s.serving == market.Exclusive && len(s.tasks) > e.sys.Ahead {
		n := s.news(e.now, false, false)
		n.arrived = s.arrived[t.owner]
		e.send(event{kind: refused, server: s.index, task: t.id(), news: e.write(&n)}, 0)
		return
	}
	suspended := s.add(t)
	e.replan(s)
	if e.sys.Owners > 0 {
		e.tell(s, false, false)
	}
	if suspended == nil || e.p.Serving != market.Preemptive {
		return
	}
	if suspended == t { // the matcher did not know of a higher bid here
		e.tell(s, false, false)
	}
	if e.p.Migrates && e.mayMove(suspended) {
		e.tasks.keep(suspended.id())
		e.send(event{kind: requery, server: s.index, task: suspended.id()}, 0)
	}
}

// completes ends a task.
func (e *engine) completes(s *server, t *task) {
	s.advance(e.now)
	s.executed += t.query.Left // what rounding has left
	t.query.Left = 0
	t.done = true
	e.resume(s.remove(t))
	e.replan(s)
	e.tell(s, true, true)
	e.books.finished += t.query.Size
	e.send(event{kind: result, server: s.index, task: t.id()}, t.query.Size)
}

// pays pays the server of a result that is back: nothing where it is late [1, section 6.3].
func (e *engine) pays(s *server, t *task) {
	if e.sys.Readings.PaysLate || e.now <= t.query.Deadline {
		s.revenue.Sold(t.query.Bid, t.query.Size)
	}
}

// resume takes back the query of a task that goes on where it was suspended.
func (e *engine) resume(t *task) {
	if t != nil && e.p.Migrates {
		e.send(event{kind: cancel, task: t.id()}, 0)
	}
}

// migrates sends a task on to another server, if it is here still, and if it is to leave because it was suspended, not
// running again.
func (e *engine) migrates(s *server, t *task, to int32, runs bool) {
	if t.done || t.at != s.index || t.running && !runs {
		e.send(event{kind: missed, server: to, task: t.id()}, 0)
		return
	}
	s.advance(e.now)
	e.resume(s.remove(t))
	t.moves++
	e.replan(s)
	e.tell(s, true, true)
	e.send(event{kind: data, server: to, task: t.id()}, t.query.Size)
}

// mayMove reports whether a task has not moved as often as it may.
func (e *engine) mayMove(t *task) bool { return e.p.Moves == 0 || int(t.moves) < e.p.Moves }

// reprices sets a server's reserve price anew.
func (e *engine) reprices(s *server) {
	s.advance(e.now)
	s.price = s.revenue.Price(e.p.Discount)
	e.tell(s, false, false)
	e.at(e.now+e.sys.Reprice, event{kind: reprice, server: s.index})
}

// nextBackground sets the arrival of a server's next background task. Each server has the same share of its own
// capacity.
func (e *engine) nextBackground(j int32) {
	s, b := &e.servers[j], &e.sys.Background
	rate := e.sys.Load * b.Share * s.units * s.speed / b.Size
	e.at(e.now+e.loads[j].ExpFloat64()/rate, event{kind: background, server: j})
}

func (e *engine) backgroundArrives(j int32) {
	e.nextBackground(j)
	s := &e.servers[j]
	s.advance(e.now)
	if !s.admit() {
		return
	}
	e.backgroundStarts(s)
	e.replan(s)
	e.tell(s, false, false)
	if t := s.running; e.p.Active && t != nil && e.mayMove(t) {
		e.tasks.keep(t.id())
		e.send(event{kind: slower, server: j, task: t.id()}, 0)
	}
}

func (e *engine) backgroundStarts(s *server) {
	e.at(e.now+e.sys.Background.Size/(s.takes*s.speed), event{kind: free, server: s.index})
}

func (e *engine) backgroundEnds(j int32) {
	s := &e.servers[j]
	s.advance(e.now)
	if s.leave() {
		e.backgroundStarts(s)
	}
	e.replan(s)
	e.tell(s, false, true)
}
