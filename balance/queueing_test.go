package balance

import (
	"math"
	"testing"

	"skep/grid"
	"skep/lpas"
)

// queueing is the grid of [1, section 4.3.1]: Poisson arrivals of every class at every machine, one
// first-come-first-served queue at each, exponential execution, a decider at each machine, and
// information at once. Time is in the thesis' time-units.
type queueing struct {
	base, now world // rates at first and now
	rand      *grid.Rand
	policies  []Policy
	queues    []queue
	class     []grid.Task
	view      View
	dst       []grid.NodeID
	answers   []State
	told      []Outcome // by machine: its column
	t         float64

	tasks    int
	time     float64 // of all completed, submission to completion
	byClass  []float64
	nByClass []int
	remote   int // messages, two for each other machine that is asked
	counted  int // two for each machine that is asked, itself too
}

type queue struct {
	tasks []waiting // the first is in execution
	first int
	done  float64
}

type waiting struct {
	class int
	since float64
}

func clone(x [][]float64) [][]float64 {
	var out [][]float64
	for _, row := range x {
		out = append(out, append([]float64(nil), row...))
	}
	return out
}

func newQueueing(t testing.TB, w *world, policy string, seed uint64) *queueing {
	q := &queueing{base: *w, now: world{alpha: clone(w.alpha), mu: clone(w.mu)}, rand: grid.NewRand(seed, 0)}
	q.byClass, q.nByClass = make([]float64, len(w.mu)), make([]int, len(w.mu))
	ws := new(lpas.Workspace) // one for all: they take turns
	for j := range w.machines() {
		q.policies = append(q.policies, mustMake(t, policy, Config{Scratch: ws}, seed+uint64(j)))
		q.queues = append(q.queues, queue{done: math.Inf(1)})
		q.view.Nodes = append(q.view.Nodes, State{Node: nodeID(j)})
		q.told = append(q.told, q.now.column(j))
	}
	for i := range w.mu {
		q.class = append(q.class, grid.Task{Class: className(i)})
	}
	for _, p := range q.policies {
		w.tell(p)
	}
	return q
}

// run goes on until a time. Rates change at the given rate: one of all, to its base value times one of
// three factors.
func (q *queueing) run(until, change float64) {
	next := q.exp(change)
	for {
		var total float64
		for _, row := range q.now.alpha {
			for _, a := range row {
				total += a
			}
		}
		arrival := q.t + q.exp(total)
		for arrival < next { // arrivals have no memory: drawn anew after a change of rates
			if arrival > until {
				q.finish(until)
				return
			}
			q.finish(arrival)
			q.t = arrival
			q.arrive(q.rand.Float64() * total)
			arrival += q.exp(total)
		}
		if next > until {
			q.finish(until)
			return
		}
		q.finish(next)
		q.t = next
		q.change()
		next += q.exp(change)
	}
}

func (q *queueing) exp(rate float64) float64 {
	if rate == 0 {
		return math.Inf(1)
	}
	return q.rand.ExpFloat64() / rate
}

func (q *queueing) arrive(u float64) {
	for i, row := range q.now.alpha {
		for j, a := range row {
			if u -= a; u < 0 {
				q.decide(i, j)
				return
			}
		}
	}
}

// decide asks, with rates in both directions, and places.
func (q *queueing) decide(i, from int) {
	p, now := q.policies[from], grid.Time(q.t*1e9)
	for j := range q.view.Nodes {
		q.view.Nodes[j] = q.state(i, j, now)
	}
	q.view.Self = nodeID(from)
	q.dst = p.Poll(now, &q.class[i], q.view, q.dst[:0])
	q.answers = q.answers[:0]
	for _, id := range q.dst {
		j := int(id[1]) - 1
		q.counted += 2
		if j != from {
			q.remote += 2
			q.policies[j].Note(q.told[from])
			p.Note(q.told[j])
		}
		q.answers = append(q.answers, q.view.Nodes[j])
	}
	if len(q.dst) == 0 {
		q.answers = append(q.answers, q.view.Nodes...)
	}
	c := p.Choose(now, &q.class[i], q.answers)
	p.Note(Outcome{Kind: Placed, At: now, Node: c.Node, Class: q.class[i].Class})
	q.push(int(c.Node[1])-1, waiting{i, q.t})
	q.tasks++
}

func (q *queueing) state(i, j int, now grid.Time) State {
	ready := 0.0
	k := &q.queues[j]
	for _, w := range k.tasks[k.first:] {
		ready += 1 / q.now.mu[w.class][j]
	}
	return State{Node: nodeID(j), Ready: ready, ECT: ready + 1/q.now.mu[i][j], Heard: now}
}

func (q *queueing) push(j int, w waiting) {
	k := &q.queues[j]
	k.tasks = append(k.tasks, w)
	if len(k.tasks)-k.first == 1 {
		k.done = q.t + q.exp(q.now.mu[w.class][j])
	}
}

// finish completes everything up to a time.
func (q *queueing) finish(until float64) {
	for j := range q.queues {
		k := &q.queues[j]
		for k.done <= until {
			w := k.tasks[k.first]
			q.time += k.done - w.since
			q.byClass[w.class] += k.done - w.since
			q.nByClass[w.class]++
			if k.first++; k.first == len(k.tasks) {
				k.tasks, k.first, k.done = k.tasks[:0], 0, math.Inf(1)
				continue
			}
			if k.first > 1000 {
				k.tasks = k.tasks[:copy(k.tasks, k.tasks[k.first:])]
				k.first = 0
			}
			k.done += q.exp(q.now.mu[k.tasks[k.first].class][j])
		}
	}
}

// change sets one rate; its owner knows at once, the others when they next hear of it.
func (q *queueing) change() {
	i, j := q.rand.IntN(len(q.now.mu)), q.rand.IntN(q.now.machines())
	q.redraw(i, j, q.rand.IntN(2) == 0)
	q.policies[j].Note(q.told[j])
}

func (q *queueing) redraw(i, j int, alpha bool) {
	x := q.rand.IntN(3)
	if alpha {
		q.now.alpha[i][j] = q.base.alpha[i][j] * [...]float64{1, 1.1, 1.2}[x]
	} else {
		q.now.mu[i][j] = q.base.mu[i][j] * [...]float64{1, 1.05, 1.15}[x]
	}
	q.told[j] = q.now.column(j)
}

// settle draws every rate once, as if the grid had run for long, and tells everybody.
func (q *queueing) settle() {
	for i := range q.now.mu {
		for j := range q.now.machines() {
			q.redraw(i, j, true)
			q.redraw(i, j, false)
		}
	}
	for _, p := range q.policies {
		q.now.tell(p)
	}
}
