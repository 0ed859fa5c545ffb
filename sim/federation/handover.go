package federation

// match has the broker hand tasks over.
func (e *engine) match() {
	e.broker.match(func(t *task, k int) {
		t.site, t.given = k, e.now
		t.estimate, t.advert = e.sites[k].wait(e.now), e.broker.adverts[k].Waiting
		if e.system.Data != nil {
			t.from = t.copies[0]
			if e.broker.strategy.byData() {
				t.from = e.broker.links.best(t, k)
			}
		}
		e.queue(t)
	})
}

// queue puts a task into the queue of its site.
func (e *engine) queue(t *task) {
	s := &e.sites[t.site]
	s.queue = append(s.queue, t)
	if !t.local {
		s.grid++
	}
	e.start(t.site)
	if !t.local && t.started < 0 {
		s.begun++
		e.queued[t.site], e.flood = max(e.queued[t.site], s.grid), max(e.flood, s.begun)
	}
}

// start starts what fits at a site.
func (e *engine) start(k int) {
	for t := e.sites[k].start(e.now); t != nil; t = e.sites[k].start(e.now) {
		takes := t.duration
		if t.from >= 0 && !t.local {
			takes = e.fetch(t)
		}
		t.ends = e.now + takes
		e.push(takes, event{kind: taskEnds, task: t})
	}
}

// fetch says how long a task takes with its transfer, and how it ends.
func (e *engine) fetch(t *task) (takes float64) {
	d := e.system.Data
	before := t.other && d.OtherAt == "before"
	t.missed = !before && e.broker.links.down[t.from]
	t.failed = t.missed || t.other
	switch {
	case before:
		return 0
	case t.missed:
		return d.GiveUp
	}
	return d.Size/e.broker.links.rate[t.site][t.from] + t.duration
}

// end ends a task.
func (e *engine) end(t *task) {
	e.sites[t.site].end(e.now, t)
	if t.measured {
		e.open--
	}
	e.start(t.site)
}
