package oracle

import (
	"slices"
	"time"

	"skep/grid"
)

// replay is the state of the world at a time in the past.
type replay struct {
	*Hindsight
	open    []bool
	cut     []bool
	paused  []grid.Time // until then
	slow    []float64
	left    []float64        // share of the cores
	held    []grid.MilliCPU  // for gangs
	used    []grid.Resources // by attempts that run
	coming  []grid.Resources // for tasks that are on their way
	running []int32          // attempts of each task
	end     []grid.Time      // when each task's last attempt ended; 0 = it did not run to its end
	waiting []int32          // tasks, in order
	kept
	met  acquaintance
	idle []int32          // scratch: nodes with something free
	free []grid.Resources // scratch, by node
	idleness
}

// Judge judges the placement from a time on. Its regret is the core-seconds in which nodes were idle that should not
// have been: a task waited that would have ended sooner there than it did, had it gone there at that moment. A task
// takes at most one place at a time, and a place at most one task: in order of submission, each takes the one where
// it would have been done first. So
//
//	regret = ∫ Σ c(k) dt over the waiting tasks k that find an idle node i with
//	         t + transfer(k, i) + size(k)/rate(i) < end(k),   c(k) the cores that k needs
//
// in seconds. A node is left out while the owner's back-off keeps work from it, for what it has not delivered, and for
// each task that it has not brought to its end: as long as another node could run the task. The move of a task that is
// on its way is no regret, since to set out later would end later, nor is the place that is kept for it meanwhile. Nor
// is the wait of a task that may wait for more than a place: for another job, for others of its own to end, or between
// two attempts. Slots that a node keeps for a gang count as busy. A node of which the origin cannot have heard does not
// count.
func (h *Hindsight) Judge(from grid.Time) (v Judgement) {
	past := slices.Concat(h.past, h.setOut(), h.backoffEnds())
	slices.SortStableFunc(past, func(a, b moment) int { return int(max(-1, min(1, a.at-b.at))) })
	n := len(h.books.machines)
	r := replay{Hindsight: h, open: make([]bool, n), cut: make([]bool, n), paused: make([]grid.Time, n),
		slow: make([]float64, n), left: make([]float64, n), held: make([]grid.MilliCPU, n),
		used: make([]grid.Resources, n), coming: make([]grid.Resources, n),
		running: make([]int32, len(h.books.tasks)), end: h.ends(),
		kept: newKept(), met: newAcquaintance(n), free: make([]grid.Resources, n), idleness: newIdleness(n)}
	for i := range r.slow {
		r.slow[i], r.left[i] = 1, 1
	}
	for k := range past {
		r.apply(&past[k])
		if k+1 < len(past) && past[k+1].at > from {
			t0, t1 := max(past[k].at, from), past[k+1].at
			v.Regret += r.regret(t0, t1)
			for i := range r.used {
				v.Busy += r.used[i].CPU.Cores() * t1.Sub(t0).Seconds()
			}
		}
	}
	v.Longest = r.longest
	return v
}

// setOut is when each task set out for the node where it began: it arrived just when it began.
func (h *Hindsight) setOut() (moves []moment) {
	for k := range h.past {
		m := &h.past[k]
		if m.kind != taskBegan || !h.moved(m) {
			continue
		}
		j := &h.books.jobs[h.books.tasks[m.task].job]
		took := h.truth.Transfer(j.origin, m.node, h.missing(m.at, m.node, j.spec))
		for {
			longer := h.truth.Transfer(j.origin, m.node, h.missing(m.at.Add(-took), m.node, j.spec))
			if longer <= took {
				break
			}
			took = longer
		}
		moves = append(moves, moment{m.at.Add(-took), taskSetOut, m.node, m.task, 0})
	}
	return moves
}

// moved reports whether a moment is of a task on another node than its origin.
func (h *Hindsight) moved(m *moment) bool {
	return m.node != h.books.jobs[h.books.tasks[m.task].job].origin
}

// ends returns when the last attempt of each task ended, of those that ran to an end.
func (h *Hindsight) ends() []grid.Time {
	end := make([]grid.Time, len(h.books.tasks))
	for k := range h.past {
		m := &h.past[k]
		if m.kind != taskEnded {
			continue
		}
		if t := &h.books.tasks[m.task]; !t.Result.None() && t.Result.Cause == grid.Exited && m.at <= t.Ended {
			end[m.task] = max(end[m.task], m.at)
		}
	}
	return end
}

func (r *replay) apply(m *moment) {
	needs := func() grid.Resources { return r.books.jobs[r.books.tasks[m.task].job].spec.Needs.Resources }
	switch m.kind {
	case nodeOpened:
		r.open[m.node] = true
	case nodeClosed:
		r.open[m.node] = false
	case nodePaused:
		r.paused[m.node] = m.at.Add(grid.Seconds(m.value))
	case nodeCut:
		r.cut[m.node] = true
	case cutsHealed:
		clear(r.cut)
	case nodeSlowed:
		r.slow[m.node] = m.value
	case nodeShared:
		r.left[m.node] = m.value
	case nodeReserved:
		r.held[m.node] = grid.MilliCPU(m.value * float64(grid.CPU))
	case nodesMet:
		r.met.meet(m.node, m.task)
	case taskArrived:
		r.wait(m.task)
	case taskSetOut:
		r.coming[m.node] = r.coming[m.node].Plus(needs())
	case taskBegan:
		if r.moved(m) { // it has come
			r.coming[m.node] = r.coming[m.node].Minus(needs())
		}
		r.used[m.node] = r.used[m.node].Plus(needs())
		r.running[m.task]++
		r.runs[r.edge(m.task, m.node).edge]++
		if at, found := slices.BinarySearch(r.waiting, m.task); found {
			r.waiting = slices.Delete(r.waiting, at, at+1)
		}
	case taskEnded:
		r.used[m.node] = r.used[m.node].Minus(needs())
		if r.running[m.task]--; r.running[m.task] == 0 && m.at < r.end[m.task] {
			r.wait(m.task)
		}
		r.runs[r.edge(m.task, m.node).edge]--
		if m.at != r.end[m.task] {
			r.failed[edge{m.task, m.node}] = true
		}
	default:
		r.learn(m, r.edge(m.task, m.node))
	}
}

// wait has a task wait, if it ran to an end later, and a place is all that it waits for.
func (r *replay) wait(task int32) {
	j := &r.books.jobs[r.books.tasks[task].job]
	if s := j.spec; len(s.After.Jobs) > 0 || s.Rules.MaxRunning > 0 || s.Rules.OnFailure.Retry > 0 || s.IsGang() ||
		s.Rules.Deadline.Some() || s.Rules.Budget.Some() || j.retries > 0 {
		return
	}
	if at, found := slices.BinarySearch(r.waiting, task); !found && r.end[task] > 0 {
		r.waiting = slices.Insert(r.waiting, at, task)
	}
}

// regret is the regret between two times, at which nothing changed but the time.
func (r *replay) regret(t0, t1 grid.Time) (sum float64) {
	if len(r.waiting) == 0 {
		return 0
	}
	for t0 < t1 {
		r.findIdle(t0)
		cores, until := 0.0, t1
		for _, k := range r.waiting {
			if len(r.idle) == 0 {
				break
			}
			spec := r.books.jobs[r.books.tasks[k].job].spec
			node, slack := r.soonest(t0, k)
			if node < 0 {
				continue
			}
			r.free[node] = r.free[node].Minus(spec.Needs.Resources)
			if r.free[node].CPU <= 0 {
				r.idle = slices.DeleteFunc(r.idle, func(i int32) bool { return i == node })
			}
			cores += spec.Needs.CPU.Cores()
			r.found(t0, node, k)
			until = min(until, t0.Add(max(slack, time.Millisecond)))
		}
		sum += cores * until.Sub(t0).Seconds()
		r.lasts(until)
		t0 = until
	}
	return sum
}

// reachable reports whether a node takes part.
func (r *replay) reachable(i int32, now grid.Time) bool {
	return r.open[i] && !r.cut[i] && now >= r.paused[i]
}

// findIdle finds what is free on each node.
func (r *replay) findIdle(now grid.Time) {
	r.idle = r.idle[:0]
	for i := range r.open {
		if !r.reachable(int32(i), now) {
			continue
		}
		r.free[i] = r.books.machines[i].capacity
		r.free[i].CPU = grid.MilliCPU(float64(r.free[i].CPU)*r.left[i]) - r.held[i]
		if r.free[i] = r.free[i].Minus(r.used[i].Plus(r.coming[i])); r.free[i].CPU > 0 {
			r.idle = append(r.idle, int32(i))
		}
	}
}

// soonest returns the idle node where a waiting task would be done first, if that is sooner than it was, and by how
// much; else −1.
func (r *replay) soonest(now grid.Time, task int32) (node int32, slack time.Duration) {
	j := &r.books.jobs[r.books.tasks[task].job]
	node = -1
	if !r.reachable(j.origin, now) {
		return node, 0
	}
	for _, i := range r.idle {
		took := r.truth.RunTime(task, i)
		if took <= 0 || !r.met.know(j.origin, i) || !r.free[i].Fits(j.spec.Needs.Resources) || r.excused(now, task, i) {
			continue
		}
		took = time.Duration(float64(took) * r.slow[i])
		if i != j.origin {
			took += r.truth.Transfer(j.origin, i, r.missing(now, i, j.spec))
		}
		if left := r.end[task].Sub(now.Add(took)); left > slack {
			node, slack = i, left
		}
	}
	return node, slack
}
