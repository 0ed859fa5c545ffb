package oracle

import (
	"slices"

	"skep/grid"
)

// run is an attempt that runs.
type run struct {
	attempt grid.Attempt
	needs   grid.Resources
	node    int32
	began   grid.Time
	pauses  int32 // times that it was suspended
	paused  bool
	next    int32 // next run of the task, or in the free list, from 1
}

// Start reports that a node starts an attempt. It returns the index of its submission, the task's index over all
// submissions, and whether the start can be carried out.
func (b *Books) Start(i int32, s *grid.Start) (submission, task int32, ok bool) {
	k := b.task(i, s.Attempt.Task)
	if k < 0 || !b.checkStart(i, k, s) {
		return -1, k, false
	}
	if b.freeRun == 0 {
		b.runs = append(b.runs, run{})
		b.freeRun = int32(len(b.runs))
	}
	name, t, m := b.freeRun, &b.tasks[k], &b.machines[i]
	b.freeRun = b.runs[name-1].next
	b.runs[name-1] = run{attempt: s.Attempt.Attempt, needs: s.Spec.Needs.Resources, node: i, next: t.runs,
		began: b.world.Time()}
	t.runs = name
	m.used = m.used.Plus(s.Spec.Needs.Resources)
	b.running++
	b.noteRuns(k, s.Attempt.Attempt, true)
	b.hindsight.note(b.world.Time(), taskBegan, i, k, 0)
	return t.job, k, true
}

// Executes counts a start of a task whose program is executed, which one that is refused is not.
func (b *Books) Executes(task int32) { b.tasks[task].Starts++ }

// End reports that an attempt runs no more on a node.
func (b *Books) End(i, task int32, a grid.Attempt) {
	at := &b.tasks[task].runs
	for r := &b.runs[*at-1]; r.node != i || r.attempt != a; r = &b.runs[*at-1] {
		at = &r.next
	}
	name := *at
	r, m := &b.runs[name-1], &b.machines[i]
	m.used = m.used.Minus(r.taken())
	*at, r.next, b.freeRun = r.next, b.freeRun, name
	b.running--
	b.longest = max(b.longest, b.world.Time().Sub(r.began))
	b.checkStopped(i, task, a)
	b.noteRests(task, a)
	b.hindsight.note(b.world.Time(), taskEnded, i, task, 0)
}

// Running is the number of attempts that run.
func (b *Books) Running() int { return b.running }

// Runs calls yield for the attempts of a task that run, until it returns false.
func (b *Books) Runs(task int32) func(yield func(grid.Attempt) bool) {
	return func(yield func(grid.Attempt) bool) {
		for r := b.tasks[task].runs; r != 0 && yield(b.runs[r-1].attempt); r = b.runs[r-1].next {
		}
	}
}

// checkStartsAndStops checks that no step starts an attempt and stops it: a driver stops first, and would leave it
// running.
func (b *Books) checkStartsAndStops(i int32, fx *grid.Effects) {
	for k := range fx.Starts {
		id := fx.Starts[k].Attempt
		if t := b.task(i, id.Task); t >= 0 && slices.Contains(fx.Stops, grid.Stop{Attempt: id}) {
			b.fail(i, "starts attempt %v of %s in the step that stops it", id.Attempt, b.taskName(t))
		}
	}
}

// checkStart checks a start and reports whether it can be carried out.
func (b *Books) checkStart(i, k int32, s *grid.Start) bool {
	t, m := &b.tasks[k], &b.machines[i]
	a := s.Attempt.Attempt
	for r := t.runs; r != 0; r = b.runs[r-1].next {
		if b.runs[r-1].attempt == a {
			b.fail(i, "starts attempt %v of %s, which runs on n%d", a, b.taskName(k), b.runs[r-1].node)
			return false
		}
	}
	if t.accepted.Less(a) || t.accepted == a && t.acceptedBy != i { // its record may be deleted already
		b.fail(i, "starts attempt %v of %s, which is not on its disk", a, b.taskName(k))
	}
	used := m.used.Plus(s.Spec.Needs.Resources)
	if s.Weight > 0 { // it shares the cores with what runs
		used.CPU = min(used.CPU, m.capacity.CPU)
	}
	if !m.capacity.Fits(used) {
		b.fail(i, "starts attempt %v of %s and so uses %v of %v", a, b.taskName(k), used, m.capacity)
	}
	if b.jobs[t.job].cancelAnswered {
		b.fail(i, "starts attempt %v of %s, and who cancelled it was told that nothing of it starts any more", a,
			b.taskName(k))
	}
	if t.cancelAnswered {
		b.fail(i, "starts attempt %v of %s, and who cancelled that task was told that it starts no more", a, b.taskName(k))
	}
	if b.hasGivenBack(i, k, a) {
		b.fail(i, "starts attempt %v of %s, which it has handed back", a, b.taskName(k))
	}
	b.checkBackoff(i, k, a)
	b.checkDeadline(i, k, a)
	b.checkBudget(i, k, a)
	b.checkOrder(i, k)
	b.checkGang(i, k, a)
	b.checkBegins(i, k, s)
	b.checkRetried(i, k, a)
	if s.Spec.Retries == 0 && int(t.Starts) > b.durableFailures(k) {
		b.fail(i, "starts %s again, attempt %v, which must run at most once", b.taskName(k), a)
	}
	return !b.failed
}
