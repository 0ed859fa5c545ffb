package balance

import (
	"math"
	"slices"

	"skep/grid"
)

// Batch is a Policy that places many tasks at once, all by the same answers. For one task alone it is asked as any
// other policy.
type Batch interface {
	// Assign appends a choice for each task, in the order of ts: Place, or Wait where no answer is from a node that
	// can run it. Ready of an answer is for any of them; ECT and Fetch are for tasks as ts[0].
	Assign(now grid.Time, ts []*grid.Task, answers []State, dst []Choice) []Choice
}

// batch is batch mode [2, section 3.2], [4, section 2.2]: as long as there are tasks, that is taken which the rule
// names, given to the node that completes it first, and counted there. With
//
//	c_ij = r_j + e_ij   of task i on node j, by its ready time and the execution time alone,
//	C_i = min_j c_ij,  D_i = the second least,
//
// min_min takes the least C, max_min the largest, and sufferage the largest D − C: what the task loses if
// it does not get its best node. A task that only one node can run loses all. Of equal ones the first to come is taken.
//
// xsufferage [4, section 2.2] looks at clusters, C_i and D_i being the least completion in the best and in the second
// best of them, and waits for the inputs: c_ij = max(r_j, time until they are at j's cluster) + e_ij. What one task has
// had brought to a cluster is there for the next. With one cluster it is sufferage.
//
// All of [2] take r_j of machines that run one task after the other. A node with s slots of which some are idle starts
// as many at once, and then one each time 1/s of the work that it was given is done.
type batch struct {
	decider
	rule    rule
	cluster bool

	groups []group
	nodes  []seat
	ring   ring
	brings map[fileKey]grid.Time // when inputs are or were at a cluster
}

type rule uint8

const (
	minMin rule = iota
	maxMin
	sufferage
)

// group is tasks that are alike: of the same class and the same job.
type group struct {
	class string
	job   grid.JobID
	tasks []int32
	next  int
}

// seat is a node while tasks are given to it. Seconds from now.
type seat struct {
	ready   float64
	work    float64 // slot-seconds, with those before
	slots   float64
	idle    float64 // slots
	cluster int32
}

// fileKey names the inputs of a job at a cluster.
type fileKey struct {
	job grid.JobID
	cluster
}

// mostBrought bounds what is remembered of inputs; when there is more it is all forgotten.
const mostBrought = 4096

func init() {
	for name, p := range map[string]batch{"min_min": {rule: minMin}, "max_min": {rule: maxMin},
		"sufferage": {rule: sufferage}, "xsufferage": {rule: sufferage, cluster: true}} {
		register(name, func(c *Config, r *grid.Rand) Policy {
			return &batch{decider: decider{cfg: c, rand: r}, rule: p.rule, cluster: p.cluster, brings: map[fileKey]grid.Time{}}
		})
	}
}

// Poll asks as mct does, but for all tasks of the job together: PollMax nodes for each.
func (p *batch) Poll(now grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	if !p.meet(t, v) {
		return dst
	}
	if p.cfg.PollMax <= 0 {
		return everybody(v, dst)
	}
	n := 1
	if t.Spec != nil {
		n = min(int(t.Spec.Count), len(v.Nodes))
	}
	p.rank(now, v, false)
	return p.ask(v, p.cfg.PollMax*max(n, 1), dst)
}

func (p *batch) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	var one [1]Choice
	c := p.Assign(now, []*grid.Task{t}, answers, one[:0])[0]
	if c.Act != Place { // nobody is known to run the class: the soonest will teach its rate
		return p.soonest(now, t, answers)
	}
	return c
}

func (p *batch) Assign(now grid.Time, ts []*grid.Task, answers []State, dst []Choice) []Choice {
	base := len(dst)
	for range ts {
		dst = append(dst, Choice{Act: Wait})
	}
	if len(ts) == 0 || len(answers) == 0 {
		return dst
	}
	p.sort(ts)
	p.seats(now, ts[0], answers)
	for range ts {
		g, at, c := p.pick(now, ts, answers)
		if g == nil {
			break
		}
		i := g.tasks[g.next]
		g.next++
		e := p.alone(g.class, ts[0].Class, &answers[at])
		p.nodes[at].give(e, c-e)
		p.bring(now, g, at, answers)
		p.expected = e
		dst[base+int(i)] = Choice{Act: Place, Node: answers[at].Node, ECT: c}
	}
	return dst
}

// sort puts the tasks into groups, in the order in which the first of each comes.
func (p *batch) sort(ts []*grid.Task) {
	p.groups = p.groups[:0]
next:
	for i, t := range ts {
		for k := range p.groups {
			if g := &p.groups[k]; g.class == t.Class && g.job == t.ID.Task.Job {
				g.tasks = append(g.tasks, int32(i))
				continue next
			}
		}
		p.groups = slices.Grow(p.groups, 1)[:len(p.groups)+1]
		g := &p.groups[len(p.groups)-1]
		*g = group{class: t.Class, job: t.ID.Task.Job, tasks: append(g.tasks[:0], int32(i))}
	}
}

// seats takes the answers.
func (p *batch) seats(now grid.Time, t *grid.Task, answers []State) {
	p.nodes = p.nodes[:0]
	p.ring.look(answers)
	for k := range answers {
		s := &answers[k]
		x := seat{slots: 1, ready: sound(s.Ready) + p.charge(now, s)}
		if j, ok := p.rates.lookup(&s.Node); ok && p.rates.rated[j] {
			x.slots = max(p.rates.slots[j], leastSlots)
		}
		x.work = x.ready * x.slots
		if x.ready == 0 {
			x.idle = max(x.slots-float64(max(s.Running, 0)), 1)
		}
		c, _ := p.ring.at(clusterOf(s.Site, s.Node))
		x.cluster = int32(c)
		p.nodes = append(p.nodes, x)
	}
}

// start is when a further task would start.
func (x *seat) start() float64 {
	if x.idle > 0 {
		return x.ready
	}
	return max(x.ready, x.work/x.slots)
}

// give adds a task of e seconds; one that waits for its inputs holds its slot meanwhile.
func (x *seat) give(e, start float64) {
	x.work += e + max(start-x.start(), 0)
	if x.idle > 0 {
		x.idle = max(x.idle-1, 0)
	}
}

// alone is the execution time of a class on a node, seconds, +Inf where it cannot run it. said is the class that the
// answer is about, for a node of which no rate is known.
func (p *batch) alone(class, said string, s *State) float64 {
	if class == said && able(s) != 0 {
		return math.Inf(1)
	}
	if j, ok := p.rates.lookup(&s.Node); ok {
		if mu, known := p.rates.execution(j, p.rates.wanted(class)); known {
			if mu == 0 {
				return math.Inf(1)
			}
			return 1 / mu
		}
	}
	if e := s.ECT - s.Ready; class == said && e >= 0 {
		return e
	}
	return math.Inf(1)
}

func (p *batch) detailed() {}
