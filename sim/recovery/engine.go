package recovery

import (
	"math"

	"skep/balance/knapsack"
	"skep/balance/utility"
	"skep/grid"
	"skep/heap"
)

// engine runs the tasks of an experiment under a strategy.
type engine struct {
	system   *System
	strategy Strategy
	tasks    []task
	choices  *grid.Rand // of fcfs

	now     float64
	free    []int // processors of each cluster
	waiting []int // tasks, in their order
	busy    heap.Heap[float64, int, byCluster]
	fitting []int // scratch: options of a task

	problem  knapsack.Problem
	solver   knapsack.Solver
	prices   []float64 // all 1, so that utility counts for a processor
	capacity []float64
	demand   [1]knapsack.Demand

	books
}

// books are what came of the tasks so far.
type books struct {
	chosen   [len(techniques)]int
	met      int     // failures
	failed   int     // tasks
	end      float64 // of the last
	paid     float64 // values of the options of those that did not fail
	possible float64 // values of the best options of all
}

// byCluster orders processors that become free at one instant.
type byCluster struct{}

// Before implements [heap.Order].
func (byCluster) Before(a, b int) bool { return a < b }

func newEngine(s *System, st Strategy, tasks int, seed uint64) *engine {
	e := &engine{system: s, strategy: st, tasks: s.draw(tasks, seed), choices: grid.NewRand(seed, streamChoices)}
	e.free = append(e.free, s.Clusters...)
	for range s.Clusters {
		e.prices = append(e.prices, 1)
	}
	for k := range e.tasks {
		e.waiting = append(e.waiting, k)
		e.possible += e.tasks[k].value
	}
	return e
}

// run runs all tasks to their end, and reports false where stop was set before. Nothing but processors that become free
// changes what an allocation finds, so those at which none has are left out.
func (e *engine) run(stop func() bool) bool {
	for tick := 0.0; len(e.waiting) > 0; {
		if stop() {
			return false
		}
		e.now = tick * e.system.Tau
		for e.busy.Len() > 0 {
			at, k := e.busy.First()
			if at > e.now {
				break
			}
			e.busy.Pop()
			e.free[k]++
		}
		if e.strategy.Name == fcfs {
			e.inOrder()
		} else {
			e.allocate()
		}
		if len(e.waiting) > 0 {
			at, _ := e.busy.First()
			tick = max(tick+1, math.Ceil(at/e.system.Tau))
		}
	}
	return true
}

// start starts a task; the caller takes it off those that wait.
func (e *engine) start(k, chosen int) {
	t := &e.tasks[k]
	o := &t.options[chosen]
	if e.free[o.cluster] -= o.processors(); e.free[o.cluster] < 0 {
		panic("recovery: a task starts on processors that are not free")
	}
	t.started = e.now
	e.chosen[o.technique]++
	failure, end := e.now+o.at*o.length, e.now+o.length
	if o.fails {
		e.met++
		switch o.technique {
		case utility.None:
			e.failed++
			end = failure
		case utility.Retry:
			end = failure + o.length
		case utility.Replicate:
			e.busy.Push(failure, o.cluster)
		}
	} else if o.technique == utility.Replicate {
		e.busy.Push(end, o.cluster)
	}
	if !o.fails || o.technique != utility.None {
		e.paid += o.value
	}
	e.busy.Push(end, o.cluster)
	e.end = max(e.end, end)
}

// inOrder starts tasks in their order, each with any option that fits. The first without one has the others wait.
func (e *engine) inOrder() {
	n := 0
	for _, k := range e.waiting {
		e.fitting = e.fitting[:0]
		t := &e.tasks[k]
		for x := range t.options {
			if o := &t.options[x]; o.processors() <= e.free[o.cluster] {
				e.fitting = append(e.fitting, x)
			}
		}
		if len(e.fitting) == 0 {
			break
		}
		e.start(k, e.fitting[e.choices.IntN(len(e.fitting))])
		n++
	}
	e.waiting = e.waiting[n:]
}

// allocate chooses options by utility and knapsack.
func (e *engine) allocate() {
	e.capacity = e.capacity[:0]
	for _, c := range e.free {
		e.capacity = append(e.capacity, float64(c))
	}
	e.problem.Reset(e.capacity...)
	for _, k := range e.waiting {
		e.problem.Item()
		t := &e.tasks[k]
		for x := range t.options {
			o := &t.options[x]
			e.demand[0] = knapsack.Demand{Of: o.cluster, Amount: float64(o.processors())}
			e.problem.Option(utility.OfTechnique(e.strategy.Heuristic, o.technique, o.value, o.length, o.risk),
				e.demand[:]...)
		}
	}
	chosen := e.solver.Solve(&e.problem, knapsack.Config{Beta: e.system.Beta, Prices: e.prices}).Choice
	left := e.waiting[:0]
	for x, k := range e.waiting {
		if chosen[x] >= 0 {
			e.start(k, chosen[x])
		} else {
			left = append(left, k)
		}
	}
	e.waiting = left
}
