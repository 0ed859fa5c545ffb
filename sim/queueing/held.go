package queueing

import (
	"cmp"
	"slices"
)

// holds are the tasks that nobody can take now.
type holds struct {
	groups []held
	find   map[int]int // by decider and class
	order  []int       // of groups, in a round
	n      int
}

// held are tasks of a class at a decider, in order of arrival.
type held struct {
	decider int
	tasks   fifo
	stuck   bool // in this round
}

// hold keeps a task until a machine comes up or rates change.
func (p *push) hold(e *engine, t task, decider int) {
	key := decider*e.n + int(t.class)
	k, ok := p.held.find[key]
	if !ok {
		if p.held.find == nil {
			p.held.find = map[int]int{}
		}
		k = len(p.held.groups)
		p.held.find[key] = k
		p.held.groups = append(p.held.groups, held{decider: decider})
	}
	h := &p.held.groups[k]
	h.stuck = true
	h.tasks.insert(t)
	p.held.n++
}

// retry places what nobody could take before, the oldest first. Where the first of a class at a decider cannot be
// placed those behind it are not tried: thousands may wait while machines that are none of theirs come and go.
func (p *push) retry(e *engine) {
	left := p.held.n // what is asked for with a delay may be held again, and comes later
	if left == 0 {
		return
	}
	order := p.held.order[:0]
	since := func(k int) float64 { return p.held.groups[k].tasks.first().since }
	for k := range p.held.groups {
		if p.held.groups[k].stuck = false; p.held.groups[k].tasks.n > 0 {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(since(a), since(b)) })
	p.held.order = order
	for ; left > 0 && len(order) > 0; left-- {
		k := order[0]
		p.held.n--
		t := p.held.groups[k].tasks.pop()
		p.place(e, t, p.held.groups[k].decider)
		if h := &p.held.groups[k]; h.stuck || h.tasks.n == 0 {
			order = order[1:]
			continue
		}
		for x := 1; x < len(order) && since(order[x]) < since(k); x++ {
			order[x-1], order[x] = order[x], order[x-1]
		}
	}
}
