package reallocation

import (
	"fmt"
	"math"

	"skep/balance/knapsack"
	"skep/balance/utility"
	"skep/heap"
)

// engine runs the tasks of an experiment under a strategy.
type engine struct {
	system      *System
	performance []float64
	strategy    Strategy
	tasks       []task

	now     float64
	free    []int // processors of each cluster
	idle    int   // of all
	storage storage
	waiting []int // tasks that are here and do not run, by arrival
	running heap.Heap[float64, int, byIndex]
	index   []int // of running tasks in running
	arrived int   // tasks so far
	ended   int
	ticks   int

	ends    [][]ending // of each cluster
	turn    int        // of gangs: how many turns have begun
	unended []int
	allocator
}

// allocator is what strategies by utility and knapsack need; its memory is used again at each tick.
type allocator struct {
	function utility.Function
	cycle    utility.Cycle
	facts    utility.Facts
	problem  knapsack.Problem
	solver   knapsack.Solver
	prices   []float64 // all 1, so that utility counts for a processor; nil with inputs, where storage costs as well
	capacity []float64
	demand   [2]knapsack.Demand
}

// byIndex orders tasks that end at one instant.
type byIndex struct{}

// Before implements [heap.Order].
func (byIndex) Before(a, b int) bool { return a < b }

func newEngine(s *System, st Strategy, pace float64, seed uint64) (*engine, error) {
	if s.Data.on() && (st.Name == "easy" || st.Name == "gang") {
		return nil, fmt.Errorf("strategy %s: knows nothing of storage: want fcfs, data_fcfs, min_min or a utility "+
			"function", st.Name)
	}
	tasks, err := s.draw(pace, seed)
	if err != nil {
		return nil, err
	}
	e := &engine{system: s, strategy: st, tasks: tasks, performance: s.performances(seed),
		storage: newStorage(&s.Data, seed)}
	e.free = append(e.free, s.Clusters...)
	for _, c := range s.Clusters {
		e.idle += c
		if !s.Data.on() {
			e.prices = append(e.prices, 1)
		}
	}
	e.index = make([]int, len(e.tasks))
	e.running.Track(func(t, index int) { e.index[t] = index })
	if st.Utility != "" {
		if e.function, err = utility.Parse(st.Utility); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// run runs all tasks to their end, and reports false where stop was set before.
func (e *engine) run(stop func() bool) bool {
	tick := math.Inf(1)
	if e.strategy.Tau > 0 {
		tick = 0
	}
	for e.ended < len(e.tasks) {
		if stop() {
			return false
		}
		next := tick
		if e.running.Len() > 0 {
			end, _ := e.running.First()
			next = min(next, end)
		}
		if e.arrived < len(e.tasks) {
			next = min(next, e.tasks[e.arrived].submit)
		}
		e.now = next
		e.complete()
		e.arrive()
		if e.ended == len(e.tasks) {
			break
		}
		if e.now == tick {
			e.ticks++
			tick = float64(e.ticks) * e.strategy.Tau
			e.tick()
		}
		e.between()
	}
	return true
}

func (e *engine) complete() {
	for e.running.Len() > 0 {
		end, k := e.running.First()
		if end > e.now {
			return
		}
		e.release(k)
		e.tasks[k].left, e.tasks[k].ended = 0, e.now
		e.ended++
	}
}

func (e *engine) arrive() {
	for e.arrived < len(e.tasks) && e.tasks[e.arrived].submit <= e.now {
		e.waiting = append(e.waiting, e.arrived)
		e.arrived++
	}
}

// computes is how long the rest of a task computes with an option.
func (e *engine) computes(t *task, o *option) float64 {
	return t.left / (float64(o.procs) * e.performance[o.cluster])
}

// lasts is how long the rest of a task takes with an option, from the first byte that is copied.
func (e *engine) lasts(t *task, o *option) float64 {
	return e.computes(t, o) + e.storage.takes(o.cluster, t.input.to(o.cluster))
}

// fits reports whether an option fits now.
func (e *engine) fits(t *task, o *option) bool {
	return o.procs <= e.free[o.cluster] && e.storage.has(o.cluster, t.input.size)
}

// start starts a task; the caller takes it off the queue.
func (e *engine) start(k, option int) {
	t := &e.tasks[k]
	o := &t.options[option]
	if o.procs > e.free[o.cluster] {
		panic("reallocation: a task starts on processors that are not free")
	}
	e.free[o.cluster] -= o.procs
	e.idle -= o.procs
	e.storage.enter(o.cluster, &t.input)
	if t.on, t.since, t.ends = option, e.now, e.now+e.lasts(t, o); t.started < 0 {
		t.started = e.now
	}
	e.running.Push(t.ends, k)
}

// release takes a running task off its processors. Its work so far is kept.
func (e *engine) release(k int) {
	t := &e.tasks[k]
	o := &t.options[t.on]
	e.free[o.cluster] += o.procs
	e.idle += o.procs
	elapsed := e.now - t.since
	elapsed -= e.storage.leave(o.cluster, &t.input, elapsed)
	t.left = max(0, t.left-elapsed*float64(o.procs)*e.performance[o.cluster])
	t.on = -1
	e.running.Remove(e.index[k])
}

// suspend takes all tasks off their processors, and lists those that are here and have not ended, by arrival.
func (e *engine) suspend() {
	e.unended = e.unended[:0]
	for k := range e.tasks[:e.arrived] {
		t := &e.tasks[k]
		if t.ended >= 0 {
			continue
		}
		if t.on >= 0 {
			e.release(k)
		}
		e.unended = append(e.unended, k)
	}
	e.waiting = e.waiting[:0]
}

// fitting is the first option that fits now; −1 = none.
func (e *engine) fitting(t *task) int {
	if t.fewest > e.idle {
		return -1
	}
	for k := range t.options {
		if o := &t.options[k]; e.fits(t, o) {
			return k
		}
	}
	return -1
}
