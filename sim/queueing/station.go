package queueing

import (
	"math"

	"skep/balance"
)

// enter puts a task into the queue of machine j.
func (p *push) enter(e *engine, j int, t task) {
	m := &e.machines[j]
	m.queue.push(t)
	p.counts[j*e.n+int(t.class)]++
	p.weigh(e, j)
	if m.queue.n == 1 && !m.down {
		e.begin(j)
	}
}

// left is told of a task that ended at machine j.
func (p *push) left(e *engine, j int, class int32) {
	p.counts[j*e.n+int(class)]--
	p.weigh(e, j)
}

// weigh computes the expected time of what is at machine j,
//
//	Σ_i Q_ij / mu_ij,
//
// from the counts and not by steps, so that machines with the same in their queues tie exactly.
func (p *push) weigh(e *engine, j int) {
	sum := 0.0
	weight := e.rates.weight[j*e.n:][:e.n]
	for i, c := range p.counts[j*e.n:][:e.n] {
		sum += float64(c) * weight[i]
	}
	p.ready[j] = sum
}

// news is told of another column of machine j: a mapper knows at once, other machines when they hear of it.
func (p *push) news(e *engine, j int) {
	p.weigh(e, j)
	if e.scattered {
		p.hear(e, j, j)
	} else {
		p.hear(e, 0, j)
	}
	p.retry(e)
}

// flip is told of a fault or its end, which all deciders know at once.
func (p *push) flip(e *engine, j int) {
	e.rates.tell(e, j)
	p.weigh(e, j)
	p.sight(e)
	for d := range p.policies {
		p.hear(e, d, j)
	}
	p.retry(e)
}

// queue fills in what is at machine j. Of the running task the mean is known, not its size: what is over the mean
// is behind it, too.
func (p *push) queue(e *engine, s *balance.State, j int) {
	m := &e.machines[j]
	s.Waiting, s.Running, s.Ran, s.Rest, s.Whole = int32(m.queue.n), 0, 0, 0, true
	if m.queue.n == 0 {
		return
	}
	s.Rest = e.rates.weight[j*e.n+int(m.queue.first().class)]
	if !math.IsInf(m.done, 1) {
		s.Waiting, s.Running = s.Waiting-1, 1
		s.Ran = min(e.now-m.began, s.Rest)
		s.Rest -= s.Ran
	}
}

// sites is where each machine stands and what for.
func (s *System) sites() []*balance.Site {
	var out []*balance.Site
	for _, l := range s.Machines {
		var site *balance.Site
		if l.Class != "" || l.Cluster != "" {
			site = &balance.Site{Cluster: l.Cluster, Class: l.Class}
		}
		for range l.count() {
			out = append(out, site)
		}
	}
	return out
}
