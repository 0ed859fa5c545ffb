package balance

import (
	"slices"
	"strings"

	"skep/grid"
)

// workqueue knows nothing of speeds and sizes [4, section 2.2]: a task goes to a node that is idle, whichever that is,
// and waits at home until there is one. With :2 it is workqueue with replication: when no task of the job is left to
// place and nodes are idle, they get second copies of those that run, at most two of each, if the job says that this
// does no harm. Whichever copy ends first with success is the result. Late copies tend to fast nodes, since those
// are idle first.
//
// Who has just delivered a result is taken to be idle, and asked first.
type workqueue struct {
	decider
	copies int
	freed  []grid.NodeID // that ended a task since the last question, oldest first
	idle   []int32       // by answer: slots that nothing runs on
}

// Copier is a [Batch] that may have several copies of a task at once. The node calls Assign for those beyond the
// first, of the tasks that run longest, with what it knows of the nodes without a message.
type Copier interface {
	Batch

	// Copies is how many copies of a task may be live at once: 1 or 2.
	Copies() int
}

// mostFreed bounds what is remembered of nodes that ended a task.
const mostFreed = 64

func init() {
	register("workqueue", func(c *Config, r *grid.Rand) Policy {
		return &workqueue{decider: decider{cfg: c, rand: r}, copies: max(c.Copies, 1)}
	})
}

func (p *workqueue) Copies() int { return p.copies }

func (p *workqueue) Note(o Outcome) {
	p.decider.Note(o)
	if o.Kind != Finished {
		return
	}
	if len(p.freed) == mostFreed {
		p.freed = append(p.freed[:0], p.freed[1:]...)
	}
	p.freed = append(p.freed, o.Node)
}

// Poll asks those who ended a task since it last asked, and as many of those that are idle as far as is known as there
// are tasks; where there are none of either, the soonest.
func (p *workqueue) Poll(now grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	if !p.meet(t, v) {
		return dst
	}
	if p.cfg.PollMax <= 0 {
		return everybody(v, dst)
	}
	base := len(dst)
	p.rank(now, v, true)
	p.marks = slices.Grow(p.marks[:0], len(v.Nodes))[:len(v.Nodes)]
	clear(p.marks)
	take := func(k int) {
		if k >= 0 && !p.marks[k] {
			p.marks[k] = true
			dst = append(dst, v.Nodes[k].Node)
		}
	}
	for _, id := range p.freed {
		take(find(v, id))
	}
	p.freed = p.freed[:0]
	most := p.cfg.PollMax
	if t.Spec != nil {
		most = max(most, int(min(t.Spec.Count, grid.MaxCount)))
	}
	for k, first := 0, p.rand.IntN(len(v.Nodes)); k < len(v.Nodes) && len(dst)-base < most; k++ {
		if at := (first + k) % len(v.Nodes); p.scores[at] == 0 {
			take(at)
		}
	}
	if len(dst) == base {
		return p.ask(v, p.cfg.PollMax, dst)
	}
	return dst
}

func (p *workqueue) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	var one [1]Choice
	return p.Assign(now, []*grid.Task{t}, answers, one[:0])[0]
}

// Assign gives each idle slot a task, going round the nodes from one that chance names.
func (p *workqueue) Assign(now grid.Time, ts []*grid.Task, answers []State, dst []Choice) []Choice {
	at := 0
	if len(answers) > 0 && !p.cfg.FirstTie {
		at = p.rand.IntN(len(answers))
	}
	return p.assignFrom(now, at, len(ts), answers, dst)
}

// assignFrom appends a choice for each of so many tasks, going round the answers from the one at at.
func (p *workqueue) assignFrom(now grid.Time, at, tasks int, answers []State, dst []Choice) []Choice {
	p.idle = p.idle[:0]
	for k := range answers {
		p.idle = append(p.idle, p.slots(now, &answers[k]))
	}
	for range tasks {
		k, left := at, len(answers)
		for left > 0 && p.idle[k%len(answers)] == 0 {
			k, left = k+1, left-1
		}
		if left == 0 {
			dst = append(dst, Choice{Act: Wait})
			continue
		}
		s := &answers[k%len(answers)]
		p.idle[k%len(answers)]--
		at = k + 1
		p.expected = execution(s)
		dst = append(dst, Choice{Act: Place, Node: s.Node, ECT: s.ECT})
	}
	return dst
}

// slots is how many tasks a node could start at once.
func (p *workqueue) slots(now grid.Time, s *State) int32 {
	if able(s) != 0 || s.Waiting > 0 || sound(s.Ready)+p.charge(now, s) > 0 {
		return 0
	}
	if j, ok := p.rates.lookup(&s.Node); ok && p.rates.rated[j] {
		return max(int32(min(p.rates.slots[j], 1<<20))-max(s.Running, 0), 1)
	}
	return 1
}

func (p *workqueue) detailed() {}

// roundRobin is round robin with replication [4, section 2.2; 5]: tasks go to idle nodes in the order in which they
// were submitted, the nodes in turn; when none is left to place, each idle node gets a copy of the next one that runs.
// The first copy to end is the result, and the others are stopped. The sources state no bound of the copies; here it is
// two at once, as in workqueue:2, of which [4] says that more add little. Only idempotent jobs get copies.
type roundRobin struct {
	workqueue
	next cluster // node whose turn it is
}

func init() {
	register("rr_replicated", func(c *Config, r *grid.Rand) Policy {
		return &roundRobin{workqueue: workqueue{decider: decider{cfg: c, rand: r}, copies: 2}}
	})
}

func (p *roundRobin) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	var one [1]Choice
	return p.Assign(now, []*grid.Task{t}, answers, one[:0])[0]
}

// Assign gives each idle slot a task, going round the nodes from the one whose turn it is.
func (p *roundRobin) Assign(now grid.Time, ts []*grid.Task, answers []State, dst []Choice) []Choice {
	at := 0
	for k := range answers {
		if (cluster{lone: answers[k].Node}).before(cluster{lone: answers[at].Node}, p.next) {
			at = k
		}
	}
	first := len(dst)
	dst = p.assignFrom(now, at, len(ts), answers, dst)
	for _, x := range dst[first:] {
		if x.Act == Place {
			p.next = after(x.Node)
		}
	}
	return dst
}

// after is the least identity above one.
func after(id grid.NodeID) cluster {
	for k := len(id) - 1; k >= 0; k-- {
		if id[k]++; id[k] != 0 {
			break
		}
	}
	return cluster{lone: id}
}

// Copies reports whether a policy is a [Copier]: it places tasks only on nodes that are idle.
func Copies(policy string) bool {
	base, _, _ := strings.Cut(policy, ":")
	return base == "workqueue" || base == "rr_replicated"
}
