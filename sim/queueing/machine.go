package queueing

import "math"

// happen does what is next at a machine.
func (e *engine) happen(j int) {
	m := &e.machines[j]
	switch {
	case m.done == e.now:
		e.complete(j)
	case m.flip == e.now:
		e.heed()
		e.flip(j)
	default:
		e.heed()
		e.stride(j)
	}
}

// heed looks now and then whether the run is wanted still, for what happens without an arrival or anything special.
func (e *engine) heed() {
	if e.rare++; e.rare&(1<<12-1) == 0 && e.stop.Load() {
		e.special = -1 // before all else
	}
}

// begin starts the first task of a machine that is up, and sets its next time.
func (e *engine) begin(j int) {
	m := &e.machines[j]
	t := m.queue.first()
	work := t.size / e.rates.mu[j*e.n+int(t.class)]
	m.left, m.began = work, e.now
	m.done = e.now + work/m.speed
	e.tree.set(j, m.next())
}

// complete ends the running task.
func (e *engine) complete(j int) {
	m := &e.machines[j]
	t := m.queue.pop()
	e.books.complete(t.class, e.now-t.since)
	if e.push != nil {
		e.push.left(e, j, t.class)
		if m.queue.n > 0 {
			e.begin(j)
			return
		}
	}
	m.done = math.Inf(1)
	e.tree.set(j, m.other)
	if e.pull != nil {
		e.pull.request(e, j)
	}
}

// flip is a fault, or its end. What ran begins anew.
func (e *engine) flip(j int) {
	m := &e.machines[j]
	f := e.sys.failures(e.line[j])
	m.down = !m.down
	if m.down {
		m.flip = e.now + f.Down.Draw(e.faults)*f.MeanFault
	} else {
		m.flip = e.now + f.Up.Draw(e.faults)/f.Rate
		e.rates.announce(e, j)
	}
	if m.down && m.queue.n > 0 {
		m.queue.first().size = e.sys.Service.Draw(e.again)
	}
	m.done, m.other = math.Inf(1), min(m.flip, m.step)
	e.tree.set(j, m.next())
	if e.pull != nil {
		e.pull.flip(e, j)
		return
	}
	if !m.down && m.queue.n > 0 {
		e.begin(j)
	}
	e.push.flip(e, j)
}

// stride moves the chain of a machine to another state, and what runs there on at another speed.
func (e *engine) stride(j int) {
	m := &e.machines[j]
	c := e.chains[e.line[j]]
	m.state = c.leave(m.state, e.faults)
	e.pace(j, c.Values[m.state])
	m.step = e.now + c.stay(m.state, e.faults)
	m.other = min(m.flip, m.step)
	e.tree.set(j, m.next())
}

// pace sets the speed of a machine; what is left of its task is done at that.
func (e *engine) pace(j int, speed float64) {
	m := &e.machines[j]
	if !math.IsInf(m.done, 1) {
		m.left = max(m.left-(e.now-m.began)*m.speed, 0)
		m.began = e.now
		m.done = e.now + m.left/speed
	}
	m.speed = speed
}
