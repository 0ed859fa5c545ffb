package balance

import (
	"math"
	"slices"

	"skep/balance/batch"
	"skep/grid"
)

// Assign maps tasks of which no more is known than their class and their job.
func (p *mapper) Assign(now grid.Time, ts []*grid.Task, answers []State, dst []Choice) []Choice {
	return p.assign(now, ts, answers, dst, func() { p.place(now, p.kinds, math.Inf(1), len(ts)) })
}

// assign makes kinds of the tasks, has place give them places in the plan, and appends these.
func (p *mapper) assign(now grid.Time, ts []*grid.Task, answers []State, dst []Choice, place func()) []Choice {
	base := len(dst)
	for range ts {
		dst = append(dst, Choice{Act: Wait})
	}
	if len(ts) == 0 || len(answers) == 0 {
		return dst
	}
	p.seats(now, answers)
	p.sort(now, ts)
	place()
	for i := range p.kinds {
		p.kinds[i].Tasks = 0 // of those placed so far, from here on
	}
	for _, x := range p.plan.Placed {
		k := &p.kinds[x.Kind]
		dst[base+p.tasks[x.Kind][k.Tasks]] = Choice{Act: Place, Node: answers[x.Node].Node, ECT: x.End,
			Option: x.Option}
		k.Tasks++
	}
	return dst
}

// sort makes kinds of tasks of the same class and the same job, in the order in which the first of each comes.
func (p *mapper) sort(now grid.Time, ts []*grid.Task) {
	p.kinds, p.jobs = p.kinds[:0], p.jobs[:0]
	for i, t := range ts {
		h := slices.IndexFunc(p.kinds, func(k batch.Kind) bool { return alike(ts[k.Ranks[0]], t) })
		if h < 0 {
			h = p.kindOf(now, t, ts[0].Class)
		}
		p.tasks[h] = append(p.tasks[h], i)
		k := &p.kinds[h]
		k.Tasks, k.Ages, k.Ranks = k.Tasks+1, append(k.Ages, now.Sub(t.Arrived).Seconds()), p.tasks[h]
	}
}

// alike reports whether tasks take the same time on the same nodes.
func alike(a, b *grid.Task) bool { return a.Class == b.Class && a.ID.Task.Job == b.ID.Task.Job }

// kindOf begins a kind of tasks as t, in memory of earlier ones, and computes their times on each node.
func (p *mapper) kindOf(now grid.Time, t *grid.Task, said string) int {
	h := len(p.kinds)
	p.kinds = slices.Grow(p.kinds, 1)[:h+1]
	if h == len(p.tasks) {
		p.tasks = append(p.tasks, nil)
	}
	p.tasks[h] = p.tasks[h][:0]
	p.jobs = append(p.jobs, t.ID.Task.Job)
	k := &p.kinds[h]
	*k = batch.Kind{Ages: k.Ages[:0], Alone: k.Alone[:0], Fetch: k.Fetch[:0], Input: p.input(h)}
	for j := range p.answers {
		s := &p.answers[j]
		k.Alone = append(k.Alone, p.alone(t.Class, said, s))
		k.Fetch = append(k.Fetch, sound(s.Fetch))
	}
	p.fetched(now, t.ID.Task.Job, k.Fetch)
	return h
}

// alone is the execution time of a class on a node, seconds, +Inf where it cannot run it. said is the class that the
// answer is about, for a node of which no rate is known.
func (p *mapper) alone(class, said string, s *State) float64 {
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
