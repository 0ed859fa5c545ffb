package queueing

import (
	"skep/balance"
	"skep/grid"
)

// pull is a system in which tasks wait at a scheduler, in one queue for each class, and idle machines take
// them [1, section 3.1]. With a delay a machine that came up or ended a task asks, which takes that time, and so does
// the task on its way to it: t1 to t4 of [1, section 3.5]. A machine thus is held by a task for 2·delay besides the
// execution. The scheduler knows of a fault at once, even so.
type pull struct {
	policy balance.Pull
	queues []fifo
	heads  []balance.Head
	idle   []int32 // machines that are up and idle, as far as the scheduler has heard, in no order
	place  []int32 // of each machine in idle; −1
	states []balance.State
	queued int

	delay   float64
	flights flights[errand]
	faults  []uint32 // of each machine so far
}

// errand is what is under way between a machine and the scheduler: a request, or the task at the head of the
// machine's queue. It comes to nothing if the machine has failed since.
type errand struct {
	machine int
	faults  uint32
	request bool
}

func newPull(e *engine, policy balance.Pull) *pull {
	p := &pull{policy: policy, queues: make([]fifo, e.n), place: make([]int32, e.m), delay: e.sys.Delay,
		faults: make([]uint32, e.m)}
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
	if p.delay > 0 {
		p.send(e, j, true)
		return
	}
	p.requested(e, j)
}

// send puts an errand under way.
func (p *pull) send(e *engine, j int, request bool) {
	at := e.now + p.delay
	p.flights.push(at, errand{j, p.faults[j], request})
	e.special = min(e.special, at)
}

// land is the arrival of what is under way.
func (p *pull) land(e *engine) {
	x := p.flights.pop()
	switch {
	case x.faults != p.faults[x.machine]:
	case x.request:
		p.requested(e, x.machine)
	default:
		e.begin(x.machine)
	}
}

// requested is when the scheduler hears that machine j asks.
func (p *pull) requested(e *engine, j int) {
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
			if p.delay > 0 {
				p.send(e, j, false)
			} else {
				e.begin(j)
			}
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

// flip is told of a fault or its end. What ran, or was on its way to the machine, goes back to the head of its queue.
func (p *pull) flip(e *engine, j int) {
	m := &e.machines[j]
	e.rates.tell(e, j)
	switch {
	case !m.down && p.delay > 0:
		p.send(e, j, true)
	case !m.down:
		p.rest(j)
	default:
		p.faults[j]++
		p.unrest(j)
		if m.queue.n > 0 {
			t := m.queue.pop()
			p.queues[t.class].back(t)
			p.queued++
		}
	}
	p.tell(e, j)
}
