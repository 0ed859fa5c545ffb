package queueing

import (
	"skep/balance"
	"skep/grid"
)

// pull is a system in which tasks wait at a scheduler, in one queue for each class, and idle machines take
// them [1, section 3.1].
type pull struct {
	policy balance.Pull
	queues []fifo
	heads  []balance.Head
	idle   []int32 // machines that are up and idle, in no order
	place  []int32 // of each machine in idle; −1
	states []balance.State
	queued int
}

func newPull(e *engine, policy balance.Pull) *pull {
	p := &pull{policy: policy, queues: make([]fifo, e.n), place: make([]int32, e.m)}
	policy.Note(e.rates.demand(e))
	for j := range e.m {
		p.place[j] = -1
		p.states = append(p.states, balance.State{Node: identity(j)})
		p.rest(j)
		policy.Note(e.rates.columns[j])
	}
	return p
}

func (p *pull) rest(j int) {
	if p.place[j] < 0 {
		p.place[j] = int32(len(p.idle))
		p.idle = append(p.idle, int32(j))
	}
}

func (p *pull) unrest(j int) {
	if k := p.place[j]; k >= 0 {
		last := len(p.idle) - 1
		p.swap(int(k), last)
		p.idle = p.idle[:last]
		p.place[j] = -1
	}
}

func (p *pull) swap(a, b int) {
	x, y := p.idle[a], p.idle[b]
	p.idle[a], p.idle[b] = y, x
	p.place[y], p.place[x] = int32(a), int32(b)
}

// arrive queues a task, or starts it on one of the idle machines that would take it, all equally likely.
// Where others of its class wait no idle machine would.
func (p *pull) arrive(e *engine, t task) {
	q := &p.queues[t.class]
	q.push(t)
	p.queued++
	if q.n == 1 {
		p.heads = append(p.heads[:0], balance.Head{Class: e.sys.Classes[t.class], Since: grid.Time(t.since * 1e9)})
		p.offer(e, p.heads)
	}
}

// offer asks the idle machines in random order until one takes something.
func (p *pull) offer(e *engine, heads []balance.Head) bool {
	for k := range p.idle {
		p.swap(k, k+e.order.IntN(len(p.idle)-k))
		if p.take(e, int(p.idle[k]), heads) {
			return true
		}
	}
	return false
}

// request is what a machine does that came up or ended a task.
func (p *pull) request(e *engine, j int) {
	p.rest(j)
	if p.queued > 0 {
		p.take(e, j, p.waiting(e))
	}
}

// ask lets all idle machines ask again, since what they may take may be another now.
func (p *pull) ask(e *engine) {
	for p.queued > 0 && p.offer(e, p.waiting(e)) {
	}
}

// waiting are the first tasks of the queues.
func (p *pull) waiting(e *engine) []balance.Head {
	p.heads = p.heads[:0]
	for i := range p.queues {
		if q := &p.queues[i]; q.n > 0 {
			p.heads = append(p.heads, balance.Head{Class: e.sys.Classes[i], Since: grid.Time(q.first().since * 1e9)})
		}
	}
	return p.heads
}

// take starts what the policy says on machine j.
func (p *pull) take(e *engine, j int, heads []balance.Head) bool {
	class, ok := p.policy.Next(e.clock(), p.states[j], heads)
	if !ok {
		return false
	}
	for i := range p.queues {
		if e.sys.Classes[i] == class {
			p.unrest(j)
			p.queued--
			e.machines[j].queue.push(p.queues[i].pop())
			e.begin(j)
			return true
		}
	}
	panic("queueing: a policy named a class that there is not")
}

// tell tells the scheduler another column of machine j, after which all ask again.
func (p *pull) tell(e *engine, j int) {
	o := e.rates.columns[j]
	o.At = e.clock()
	p.policy.Note(o)
	p.ask(e)
}

// flip is told of a fault or its end. What ran goes back to the head of its queue.
func (p *pull) flip(e *engine, j int) {
	m := &e.machines[j]
	e.rates.tell(e, j)
	if !m.down {
		p.rest(j)
	} else {
		p.unrest(j)
		if m.queue.n > 0 {
			t := m.queue.pop()
			p.queues[t.class].back(t)
			p.queued++
		}
	}
	p.tell(e, j)
}
