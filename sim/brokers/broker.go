package brokers

import (
	"slices"

	"skep/balance"
)

// place begins a decision.
func (e *engine) place(x *job) {
	x.asked, x.answers = x.asked[:0], x.answers[:0]
	e.round(x)
}

// round asks who the policy wants asked, or lets it choose if that is nobody.
func (e *engine) round(x *job) {
	v := e.views[x.home]
	if len(x.asked) > 0 {
		e.rest = e.rest[:0]
		for _, s := range v.Nodes {
			if !slices.Contains(x.asked, s.Node) {
				e.rest = append(e.rest, s)
			}
		}
		v.Nodes = e.rest
	}
	x.round = len(x.asked)
	x.asked = e.policies[x.home].Poll(e.clock(), &x.task, v, x.asked)
	asked := x.asked[x.round:]
	if len(asked) == 0 {
		if len(x.answers) == 0 {
			x.answers = append(x.answers, v.Nodes...)
		}
		e.choose(x)
		return
	}
	clusters, last := 0, -1
	near, far := false, false
	for _, id := range asked { // in order of identities, which is that of clusters
		if c := e.resources[number(id)].cluster; c != last {
			clusters, last = clusters+1, c
			near, far = near || c == x.home, far || c != x.home
		}
	}
	e.messages += 2*clusters + 2*len(asked)
	e.probed += clusters
	d := e.sys.Delays
	wait := d.Discovery + 4*d.Inside
	if near {
		e.agenda.add(e.now+d.Discovery+3*d.Inside, read, x)
	}
	if far {
		e.agenda.add(e.now+d.Discovery+3*d.Between, readAt, x)
		wait = d.Discovery + 4*d.Between
	}
	e.agenda.add(e.now+wait, decide, x)
}

func (e *engine) happen(h happening) {
	x := h.job
	switch h.what {
	case read, readAt:
		for _, id := range x.asked[x.round:] {
			r := &e.resources[number(id)]
			if (r.cluster == x.home) == (h.what == read) {
				s := balance.State{Node: id, Heard: e.clock()}
				r.tell(e.now, x.demand, &s)
				x.answers = append(x.answers, s)
			}
		}
	case decide:
		e.choose(x)
	case join:
		e.join(x)
	case back:
		e.back(x)
	}
}

// choose sends the job to its resource.
func (e *engine) choose(x *job) {
	c := e.policies[x.home].Choose(e.clock(), &x.task, x.answers)
	switch c.Act {
	case balance.PollMore:
		e.round(x)
		return
	case balance.Wait: // nobody serves its class
		e.rejected++
		e.end(x)
		return
	}
	e.policies[x.home].Note(balance.Outcome{Kind: balance.Placed, At: e.clock(), Node: c.Node, Class: x.task.Class})
	x.to = number(c.Node)
	e.messages += 2 // there, and back
	e.agenda.add(e.now+e.way(x), join, x)
}

// way is how long a message takes between a job's broker and its resource.
func (e *engine) way(x *job) float64 {
	if e.resources[x.to].cluster == x.home {
		return e.sys.Delays.Inside
	}
	return e.sys.Delays.Between
}

func (e *engine) join(x *job) {
	demand := x.demand
	bound := e.sys.Classes[x.said].Bound
	if x.early = bound > 0 && demand > bound; x.early {
		demand = bound
	}
	e.agenda.add(e.resources[x.to].take(e.now, demand)+e.way(x), back, x)
}

// back is a job that has returned: done, or longer than its class may be.
func (e *engine) back(x *job) {
	if x.early {
		e.demoted++
		x.said++
		x.task.Class = e.sys.Classes[x.said].Name
		x.task.ID.Epoch++
		e.place(x)
		return
	}
	e.all += e.now - x.since
	e.returned++
	if x.counts {
		e.total += e.now - x.since
		e.byClass[x.class] += e.now - x.since
		e.nByClass[x.class]++
	}
	e.end(x)
}

func (e *engine) end(x *job) {
	e.inside--
	if x.counts {
		e.left--
	}
	e.spare = append(e.spare, x)
}
