package queueing

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"skep/balance"
	"skep/grid"
)

// Mapping says when a batch policy places tasks: at the end of each interval, or when an arrival makes more tasks than
// Count that have not begun [5, section 3.2]. One of the two.
type Mapping struct {
	Interval float64
	Count    int
}

// Bounds of a Mapping's count.
const maxMappingCount = 1_000_000

func (s *System) checkMapping(p *Problems) {
	m := s.Mapping
	switch {
	case m == nil:
	case (m.Interval != 0) == (m.Count != 0):
		p.add("mapping", "want one of interval and count")
	case m.Count == 0 && !(m.Interval >= 1e-9 && m.Interval <= MaxTime):
		p.add("mapping.interval", "%g: want a time above 0", m.Interval)
	case m.Interval == 0 && (m.Count < 1 || m.Count > maxMappingCount):
		p.add("mapping.count", "%d: want from 1 to %d tasks", m.Count, maxMappingCount)
	}
}

func (r *reader) mappingEvents(path string, n ast.Node) *Mapping {
	m := &Mapping{}
	r.mapping(path, n, []string{"interval", "count"}, keys{
		"interval": func(p string, n ast.Node) { m.Interval = r.number(p, n) },
		"count": func(p string, n ast.Node) {
			x := r.number(p, n)
			if x != math.Trunc(x) || math.Abs(x) > maxMappingCount {
				r.misread(p, n, "%g: want a whole number of tasks", x)
				return
			}
			m.Count = int(x)
		},
	})
	return m
}

// batches reports whether a policy places many tasks at once.
func batches(policy balance.Policy) bool {
	_, ok := policy.(balance.Batch)
	return ok
}

// acceptsBatch reports what a system lacks for a batch policy.
func (s *System) acceptsBatch(name string) error {
	switch {
	case s.scattered(name):
		return fmt.Errorf("policy %s: a mapper places tasks together, and here machines place theirs: "+
			"want alpha by class, or decide: mapper", name)
	case s.Delay > 0:
		return fmt.Errorf("policy %s: what has not begun is mapped again at once: want delay 0", name)
	case s.Mapping == nil:
		return fmt.Errorf("policy %s: places tasks together, at mapping events: want mapping: {interval: TIME} or "+
			"{count: TASKS} in the file, or mct, which is the same for one task at a time", name)
	}
	return nil
}

// batchMapper is a system in which a batch policy places tasks at mapping events. The meta-task is the tasks that came
// since the last and those that have been placed and have not begun: these are taken back and placed anew.
type batchMapper struct {
	policy balance.Batch
	when   Mapping
	next   float64 // event, +Inf where arrivals decide
	tasks  []task  // that wait to be placed

	copies  []grid.Task  // by task of the meta-task: that of its class, with its own arrival
	of      []*grid.Task // these
	choices []balance.Choice
	order   []int  // of the tasks, by their expected completion
	left    []task // that nobody can take now
}

func newBatchMapper(policy balance.Policy, when Mapping) *batchMapper {
	b := &batchMapper{policy: policy.(balance.Batch), when: when, next: math.Inf(1)}
	if when.Interval > 0 {
		b.next = when.Interval
	}
	return b
}

// arrive keeps a task for the next event, which it may be.
func (b *batchMapper) arrive(e *engine, t task) {
	b.tasks = append(b.tasks, t)
	if b.when.Count == 0 {
		return
	}
	size := len(b.tasks)
	for j := range e.machines {
		size += max(e.machines[j].queue.n-1, 0)
	}
	if size > b.when.Count {
		b.event(e)
	}
}

// due is the event at the end of an interval.
func (b *batchMapper) due(e *engine) {
	b.next += b.when.Interval
	b.event(e)
}

// event places the meta-task, the first to come first where the policy does not say. What nobody can take now waits.
func (b *batchMapper) event(e *engine) {
	p := e.push
	b.takeBack(e)
	if len(b.tasks) == 0 || len(p.view.Nodes) == 0 {
		return
	}
	slices.SortStableFunc(b.tasks, func(x, y task) int { return cmp.Compare(x.since, y.since) })
	now := e.clock()
	b.of, b.copies = b.of[:0], slices.Grow(b.copies[:0], len(b.tasks))
	for _, t := range b.tasks {
		b.copies = append(b.copies, p.tasks[t.class])
		x := &b.copies[len(b.copies)-1]
		x.Arrived = grid.Time(t.since * 1e9)
		b.of = append(b.of, x)
	}
	p.look(e, 0, int(b.tasks[0].class), now)
	e.books.all += int64(2 * len(p.view.Nodes))
	e.books.remote += int64(2 * len(p.view.Nodes))
	b.choices = b.policy.Assign(now, b.of, p.view.Nodes, b.choices[:0])
	b.order = b.order[:0]
	for k := range b.tasks {
		b.order = append(b.order, k)
	}
	// Each machine gets its tasks in the order in which the policy gave them to it: they are done one after the other.
	slices.SortStableFunc(b.order, func(x, y int) int { return cmp.Compare(b.choices[x].ECT, b.choices[y].ECT) })
	b.left = b.left[:0]
	for _, k := range b.order {
		if b.choices[k].Act != balance.Place {
			b.left = append(b.left, b.tasks[k])
			continue
		}
		p.enter(e, number(&b.choices[k].Node), b.tasks[k])
	}
	b.tasks, b.left = b.left, b.tasks
}

// takeBack takes what has not begun out of the queues.
func (b *batchMapper) takeBack(e *engine) {
	for j := range e.machines {
		q := &e.machines[j].queue
		if q.n < 2 {
			continue
		}
		first := q.pop()
		for q.n > 0 {
			t := q.pop()
			e.push.counts[j*e.n+int(t.class)]--
			b.tasks = append(b.tasks, t)
		}
		q.push(first)
		e.push.weigh(e, j)
	}
}
