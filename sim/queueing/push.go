package queueing

import (
	"time"

	"skep/balance"
	"skep/grid"
)

// push is a system in which every task is placed when it arrives: by a mapper, or by the machine where it
// arrived, each with a policy of its own.
type push struct {
	policies []balance.Policy
	selves   []grid.NodeID
	known    []uint32 // by decider and machine: the version of the column that it was told
	tasks    []grid.Task

	counts []int32   // tasks at each machine, by class
	ready  []float64 // their expected time, the running one in full

	view    balance.View // the machines that are up
	who     []int32      // their numbers, by position
	where   []int32      // and back; −1
	ids     []grid.NodeID
	answers []balance.State
	rest    []balance.State // of the view, without those asked
	held    holds

	sites    []*balance.Site // by machine
	detailed bool            // the policy looks at queues

	delay   float64
	rtt     time.Duration
	flights flights[pending]
	last    []float64   // by decider and machine: ready as last heard
	heard   []grid.Time // and when
}

func (e *engine) newPush(name string, c balance.Config, draw func(int) *grid.Rand) error {
	p := &push{counts: make([]int32, e.n*e.m), ready: make([]float64, e.m), where: make([]int32, e.m), delay: e.sys.Delay}
	deciders := 1
	if e.scattered {
		deciders = e.m
	}
	for d := range deciders {
		policy, err := balance.Make(name, &c, draw(streamPolicies+d))
		if err != nil {
			return err
		}
		p.policies, p.selves = append(p.policies, policy), append(p.selves, mapper)
		if e.scattered {
			p.selves[d] = identity(d)
		}
	}
	p.detailed = balance.Detailed(p.policies[0])
	p.sites = e.sys.sites()
	for _, class := range e.sys.Classes {
		p.tasks = append(p.tasks, grid.Task{Class: class})
	}
	p.known = make([]uint32, deciders*e.m)
	if p.delay > 0 {
		p.rtt = grid.Seconds(2 * p.delay)
		p.last, p.heard = make([]float64, deciders*e.m), make([]grid.Time, deciders*e.m)
	}
	e.push = p
	p.sight(e)
	for d := range deciders { // full knowledge to begin with
		for j := range e.m { // in the order of the view, so that a policy's indices are its positions
			p.hear(e, d, j)
		}
		if !e.scattered {
			p.policies[d].Note(e.rates.demand(e))
		}
	}
	return nil
}

// sight makes the view of the machines that are up.
func (p *push) sight(e *engine) {
	p.view.Nodes, p.who = p.view.Nodes[:0], p.who[:0]
	for j := range e.m {
		if p.where[j] = -1; !e.machines[j].down {
			p.where[j] = int32(len(p.who))
			p.who = append(p.who, int32(j))
			p.view.Nodes = append(p.view.Nodes, balance.State{Node: identity(j), RTT: p.rtt, Site: p.sites[j]})
		}
	}
}

// hear tells decider d the column of machine j, unless it has that already: what is said twice changes nothing.
func (p *push) hear(e *engine, d, j int) {
	v := &p.known[d*e.m+j]
	if e.sys.Inaccuracy.EachMessage {
		e.rates.err(e, j)
		e.rates.tell(e, j)
		p.weigh(e, j)
	}
	if *v != e.rates.version[j] {
		*v = e.rates.version[j]
		o := e.rates.columns[j]
		o.At = e.clock()
		p.policies[d].Note(o)
	}
}

// state fills in what machine j says of a task of a class.
func (p *push) state(e *engine, s *balance.State, j, class int, now grid.Time) {
	s.Ready = p.ready[j]
	s.ECT = s.Ready + e.rates.alone[j*e.n+class]
	s.Heard = now
	if p.detailed {
		p.queue(e, s, j)
	}
}

// look fills in the view for a task of a class, as decider d knows it without a message.
func (p *push) look(e *engine, d, class int, now grid.Time) {
	nodes, n := p.view.Nodes, e.n
	p.view.Self = p.selves[d]
	if e.scattered {
		p.view.Home = p.sites[d]
	}
	if p.delay == 0 {
		for k, j := range p.who {
			p.state(e, &nodes[k], int(j), class, now)
		}
		return
	}
	for k, j := range p.who {
		s := &nodes[k]
		if e.scattered && int(j) == d {
			p.state(e, s, d, class, now)
			s.RTT = 0
			continue
		}
		at := d*e.m + int(j)
		s.Waiting, s.Running, s.Ran, s.Rest = 0, 0, 0, 0
		s.Ready, s.Heard, s.RTT = p.last[at], p.heard[at], p.rtt
		s.ECT = s.Ready + e.rates.alone[int(j)*n+class]
	}
}

// place decides on a task that arrived at machine from, or at the mapper with −1.
func (p *push) place(e *engine, t task, from int) {
	d := 0
	if e.scattered {
		d = from
	}
	if p.delay > 0 {
		p.depart(e, pending{task: t, decider: d})
		return
	}
	now, tk, policy := e.clock(), &p.tasks[t.class], p.policies[d]
	p.look(e, d, int(t.class), now)
	p.ids = policy.Poll(now, tk, p.view, p.ids[:0])
	p.within(e, p.ids)
	c := policy.Choose(now, tk, p.ask(e, d, int(t.class), now))
	for c.Act == balance.PollMore {
		v := p.others(p.ids)
		asked := len(p.ids)
		p.ids = policy.Poll(now, tk, v, p.ids)
		p.within(e, p.ids[asked:])
		c = policy.Choose(now, tk, p.gather(e, d, int(t.class), now, p.ids[asked:]))
	}
	if c.Act == balance.Wait {
		p.hold(e, t, d)
		return
	}
	p.chosen(e, &c)
	policy.Note(balance.Outcome{Kind: balance.Placed, At: now, Node: c.Node, Class: tk.Class})
	to := number(&c.Node)
	if e.scattered && to != d {
		e.books.moved++
	}
	p.enter(e, to, t)
}

// ask brings the answers of who is to be asked; of a view where nobody is, all as it is known.
func (p *push) ask(e *engine, d, class int, now grid.Time) []balance.State {
	if len(p.ids) == 0 {
		return p.view.Nodes
	}
	if len(p.ids) == len(p.view.Nodes) && !e.sys.Inaccuracy.EachMessage {
		// All are asked: the answers are the view, which is as fresh.
		e.books.all += int64(2 * len(p.ids))
		e.books.remote += int64(2 * len(p.ids))
		if e.scattered {
			ours, version := p.known[d*e.m:][:e.m], e.rates.version
			for _, j := range p.who {
				if int(j) == d || ours[j] != version[j] || p.known[int(j)*e.m+d] != version[d] {
					p.exchange(e, d, int(j))
				}
			}
		}
		return p.view.Nodes
	}
	return p.gather(e, d, class, now, p.ids)
}

// gather asks those named: two messages each, with the rates of both ends.
func (p *push) gather(e *engine, d, class int, now grid.Time, ids []grid.NodeID) []balance.State {
	p.answers = p.answers[:0]
	e.books.all += int64(2 * len(ids))
	e.books.remote += int64(2 * len(ids))
	for k := range ids {
		j := number(&ids[k])
		p.exchange(e, d, j)
		p.answers = append(p.answers, balance.State{Node: ids[k], RTT: p.rtt, Site: p.sites[j]})
		p.state(e, &p.answers[k], j, class, now)
	}
	return p.answers
}

// exchange is mutual feedback: each end learns the rates of the other [1, section 4.2].
func (p *push) exchange(e *engine, d, j int) {
	if e.scattered {
		if d == j {
			e.books.remote -= 2
			return
		}
		p.hear(e, j, d)
	}
	p.hear(e, d, j)
}

// others is the view without those named.
func (p *push) others(ids []grid.NodeID) balance.View {
	p.rest = p.rest[:0]
next:
	for k := range p.view.Nodes {
		for x := range ids {
			if ids[x] == p.view.Nodes[k].Node {
				continue next
			}
		}
		p.rest = append(p.rest, p.view.Nodes[k])
	}
	return balance.View{Self: p.view.Self, Home: p.view.Home, Nodes: p.rest}
}
