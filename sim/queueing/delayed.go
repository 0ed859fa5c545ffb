package queueing

import (
	"math"
	"slices"

	"skep/balance"
	"skep/grid"
)

// pending is a task that is decided on, or on its way.
type pending struct {
	task    task
	decider int
	stage   stage
	asked   []grid.NodeID   // in all rounds
	round   int             // where the last one begins
	answers []balance.State // of that
	to      int
}

// stage is what arrives next.
type stage uint8

const (
	polls stage = iota
	answers
	move
)

// flights are the messages under way. The delay is the same for all, so that they arrive in the order in
// which they left.
type flights[T any] struct {
	due  []float64
	what []T
	head int
}

func (f *flights[T]) next() float64 {
	if f.head == len(f.due) {
		return math.Inf(1)
	}
	return f.due[f.head]
}

func (f *flights[T]) push(at float64, x T) {
	if f.head > 1024 && 2*f.head > len(f.due) {
		f.due = slices.Delete(f.due, 0, f.head)
		f.what = slices.Delete(f.what, 0, f.head)
		f.head = 0
	}
	f.due, f.what = append(f.due, at), append(f.what, x)
}

// pop takes the first to arrive.
func (f *flights[T]) pop() T {
	var none T
	x := f.what[f.head]
	f.what[f.head] = none
	f.head++
	return x
}

// send puts x under way.
func (p *push) send(e *engine, x pending, s stage) {
	x.stage = s
	at := e.now + p.delay
	p.flights.push(at, x)
	e.special = min(e.special, at)
}

// land is the arrival of what is under way.
func (p *push) land(e *engine) {
	x := p.flights.pop()
	switch x.stage {
	case polls:
		p.polled(e, &x)
		p.send(e, x, answers)
	case answers:
		p.answered(e, x)
	case move:
		p.enter(e, x.to, x.task)
	}
}

// depart sends the polls of a round. Where nobody else is asked nothing need be waited for.
func (p *push) depart(e *engine, x pending) {
	now, tk := e.clock(), &p.tasks[x.task.class]
	p.look(e, x.decider, int(x.task.class), now)
	v := p.view
	if len(x.asked) > 0 {
		v = p.others(x.asked)
	}
	x.round = len(x.asked)
	x.asked = p.policies[x.decider].Poll(now, tk, v, x.asked)
	asked := x.asked[x.round:]
	p.within(e, asked)
	e.books.all += int64(2 * len(asked))
	remote := false
	for k := range asked {
		if !e.scattered || number(&asked[k]) != x.decider {
			e.books.remote += 2
			remote = true
		}
	}
	x.answers = x.answers[:0]
	switch {
	case remote:
		p.send(e, x, polls)
	case len(asked) == 0:
		x.answers = append(x.answers, v.Nodes...)
		p.choose(e, x)
	default:
		p.answered(e, x)
	}
}

// polled takes the answers of the machines, with the rates of the asker.
func (p *push) polled(e *engine, x *pending) {
	now := e.clock()
	for _, id := range x.asked[x.round:] {
		j := number(&id)
		if e.scattered && j == x.decider {
			continue
		}
		if e.scattered {
			p.hear(e, j, x.decider)
		}
		s := balance.State{Node: id, RTT: p.rtt, Site: p.sites[j]}
		p.state(e, &s, j, int(x.task.class), now)
		x.answers = append(x.answers, s)
	}
}

// answered is when the answers are back: with the rates of who gave them, and the decider's own state as it is.
func (p *push) answered(e *engine, x pending) {
	now := e.clock()
	for k := range x.answers {
		s := &x.answers[k]
		j := number(&s.Node)
		s.Heard = now
		p.last[x.decider*e.m+j], p.heard[x.decider*e.m+j] = s.Ready, now
		p.hear(e, x.decider, j)
	}
	if own := p.selves[x.decider]; e.scattered && slices.Contains(x.asked[x.round:], own) {
		s := balance.State{Node: own, Site: p.sites[x.decider]}
		p.state(e, &s, x.decider, int(x.task.class), now)
		x.answers = append(x.answers, s)
	}
	p.choose(e, x)
}

// choose sends the task to where it goes.
func (p *push) choose(e *engine, x pending) {
	now, tk := e.clock(), &p.tasks[x.task.class]
	c := p.policies[x.decider].Choose(now, tk, x.answers)
	switch c.Act {
	case balance.PollMore:
		p.depart(e, x)
	case balance.Wait:
		p.hold(e, x.task, x.decider)
	case balance.Place:
		p.chosen(e, &c)
		p.policies[x.decider].Note(balance.Outcome{Kind: balance.Placed, At: now, Node: c.Node, Class: tk.Class})
		x.to = number(&c.Node)
		if e.scattered && x.to == x.decider {
			p.enter(e, x.to, x.task)
			return
		}
		e.books.moved++
		p.send(e, x, move)
	}
}
