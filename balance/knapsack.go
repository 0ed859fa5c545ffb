package balance

import (
	"cmp"
	"math"

	"skep/balance/allocator"
	"skep/balance/batch"
	"skep/balance/utility"
	"skep/grid"
)

// Way is a way in which a task could run at a node: as an option of its job.
type Way struct {
	Option uint8 // its number
	Cores  float64
	Most   float64 // how many such tasks the node can run at a time, whatever cores it has; 0 = no such bound
	Ready  float64 // seconds until a task that came then would start so
	ECT    float64 // and be done
	Dear   bool    // the node wants more for it than it is worth, and not for another way: it is not to be taken

	// Judged: a policy that weighs ways has valued it when it mapped the task. Utility is that of the first of its kind.
	Judged  bool
	Utility float64
}

// As is the state for a task that was chosen to run at a node as an option, by its number. States of other nodes, and
// those that do not have it among their ways, are as they are.
func (s *State) As(node grid.NodeID, option uint8) State {
	as := *s
	for i := range s.Ways {
		if w := &s.Ways[i]; s.Node == node && w.Option == option {
			as.Option, as.Ready, as.ECT, as.Most = option, w.Ready, w.ECT, w.Most
		}
	}
	return as
}

// allocating is the policy that fills what nodes have free with the most utility (package allocator).
type allocating struct {
	mapper
	allocator.Allocator

	tasks  []allocator.Kind
	seated []allocator.Node
	placed []allocator.Placement
}

func init() {
	register(utility.PolicyName, func(c *Config, r *grid.Rand) Policy {
		f, err := utility.Parse(cmp.Or(c.Utility, utility.Usual))
		if err != nil {
			panic("balance: " + err.Error()) // Make has read the parameter
		}
		p := &allocating{mapper: mapper{decider: decider{cfg: c, rand: r}}}
		p.Function = &f
		return p
	})
}

func (p *allocating) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	var one [1]Choice
	c := p.Assign(now, []*grid.Task{t}, answers, one[:0])[0]
	if c.Act != Place { // nobody is known to run the class: the soonest will teach its rate
		return p.soonest(now, t, answers)
	}
	return c
}

// Assign allocates tasks of which no more is known than their class, their job, and when they came.
func (p *allocating) Assign(now grid.Time, ts []*grid.Task, answers []State, dst []Choice) []Choice {
	return p.assign(now, ts, answers, dst, func() {
		p.reset(len(p.kinds))
		for i := range p.kinds {
			k, t, x := &p.kinds[i], ts[p.mapper.tasks[i][0]], &p.tasks[i]
			x.Tasks, x.Waited, x.Bid = k.Tasks, k.Ages[0], bidOf(t)
			for j := range answers {
				p.way(x, j, k.Alone[j], k.Fetch[j], coresOf(t), 0)
			}
		}
		p.allocate(math.Inf(1), len(ts))
	})
}

func bidOf(t *grid.Task) float64 {
	if t.Spec == nil {
		return 1
	}
	return t.Spec.Bid().Number()
}

func coresOf(t *grid.Task) float64 {
	if t.Spec == nil {
		return 1
	}
	return t.Spec.Needs.CPU.Cores()
}

// Map allocates what waits.
func (p *allocating) Map(now grid.Time, m *MetaTask) *Plan {
	p.seats(now, m.Nodes)
	p.reset(len(m.Kinds))
	for i := range m.Kinds {
		k, x := &m.Kinds[i], &p.tasks[i]
		x.Tasks, x.Waited, x.Bid = k.Tasks, now.Sub(k.Arrived).Seconds(), cmp.Or(k.Pays, k.Bid).Number()
		if aged := k.Aged.Number(); aged > aBand*x.Bid {
			x.Aged = aged
		}
		for j := range m.Nodes {
			if k.Ways == nil || k.Ways[j] == nil {
				p.way(x, j, k.Alone[j], k.Fetch[j], cmp.Or(k.Cores, 1), m.Nodes[j].Most)
				continue
			}
			for w := range k.Ways[j] {
				p.option(x, j, k.Fetch[j], &k.Ways[j][w], k.Needs)
			}
		}
	}
	p.allocate(m.Until, m.Most)
	for i := range m.Kinds {
		p.judge(&p.tasks[i], m.Kinds[i].Ways)
	}
	p.plan.Next, p.plan.end = p.Next(), p.Left
	return &p.plan
}

// reset makes so many kinds, in memory of earlier ones, and seats the nodes with all their cores: counted resources
// bound ways.
func (p *allocating) reset(kinds int) {
	for len(p.tasks) < kinds {
		p.tasks = append(p.tasks, allocator.Kind{})
	}
	p.tasks = p.tasks[:kinds]
	for i := range p.tasks {
		p.tasks[i] = allocator.Kind{Ways: p.tasks[i].Ways[:0]}
	}
	p.seated = p.seated[:0]
	for j := range p.nodes {
		cores := State{Node: p.answers[j].Node}
		p.seated = append(p.seated, allocator.Node{Ready: p.nodes[j].Ready, Slots: p.slotsOf(&cores), Tie: j})
		p.idle(j, 1)
		k := j
		if p.cfg.FirstTie {
			for k > 0 && p.answers[j].Node.Compare(p.answers[k-1].Node) < 0 {
				k--
			}
		} else {
			k = p.rand.IntN(j + 1)
		}
		p.seated[j].Tie, p.seated[k].Tie = p.seated[k].Tie, p.seated[j].Tie
	}
}

// idle is what is idle at a node that is ready now: at least so many cores.
func (p *allocating) idle(j int, cores float64) {
	if n := &p.seated[j]; n.Ready <= 0 {
		n.Idle = max(n.Idle, n.Slots-float64(max(p.answers[j].Running, 0)), cores)
	}
}

// way adds a way to run tasks of a kind at a node that they can run at.
func (p *allocating) way(x *allocator.Kind, j int, alone, fetch, cores, most float64) {
	if !(alone < math.Inf(1)) {
		return
	}
	w := allocator.Way{Node: j, Cores: max(cores, leastSlots), Alone: alone, Fetch: fetch, Speedup: 1, Worth: 1}
	if most > 0 {
		w.Counted = 1 / most
	}
	x.Ways = append(x.Ways, w)
	p.seated[j].Slots = max(p.seated[j].Slots, cores)
}

// option adds the way to run tasks of a kind as an option of their job. The node is ready when the first of its ways
// is, and what begins at once has cores idle.
func (p *allocating) option(x *allocator.Kind, j int, fetch float64, o *Way, needs *grid.Needs) {
	ready := sound(o.Ready)
	if o.Dear || !(ready < math.Inf(1)) {
		return
	}
	p.way(x, j, sound(o.ECT)-ready, fetch, o.Cores, o.Most)
	w, n := &x.Ways[len(x.Ways)-1], &p.seated[j]
	w.Option, w.Ready, w.Speedup, w.Worth = o.Option, ready, needs.SpeedupOf(o.Option), needs.ValueOf(o.Option)
	if at := ready + p.nodes[j].Ready - sound(p.answers[j].Ready); at < n.Ready {
		n.Ready = at
	}
	if ready <= 0 {
		p.idle(j, o.Cores)
	}
}

// judge notes the utilities of ways, by node: each is of an option and a node.
func (p *allocating) judge(x *allocator.Kind, ways [][]Way) {
	for i := range x.Ways {
		w := &x.Ways[i]
		if ways == nil || w.Option == 0 {
			continue
		}
		for k := range ways[w.Node] {
			if o := &ways[w.Node][k]; o.Option == w.Option {
				o.Utility, o.Judged = w.Utility(), true
			}
		}
	}
}

// allocate places what has ways, in the plan.
func (p *allocating) allocate(until float64, most int) {
	p.placed = p.Allocate(p.tasks, p.seated, until, most, p.placed[:0])
	p.plan.Placed = p.plan.Placed[:0]
	for _, x := range p.placed {
		p.plan.Placed = append(p.plan.Placed, batch.Placement{Kind: x.Kind, Node: x.Node, Option: x.Option, Free: x.Free,
			Start: x.Start, End: x.End})
	}
	if n := len(p.placed); n > 0 {
		p.expected = p.placed[n-1].End - p.placed[n-1].Start
	}
}
