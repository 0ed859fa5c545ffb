package exec

import (
	"time"

	"skep/balance/reallocation"
	"skep/balance/utility"
	"skep/grid"
)

// Bounds of what is weighed when the cores are allocated anew: of each line of the queue the first, and all together.
const (
	mostOfLine = 64
	mostItems  = 512
)

// unknownRun is how long a task is believed to run of whose class nothing is known.
const unknownRun = time.Minute

// Reallocation is what becomes of work when the cores are allocated anew.
type Reallocation struct{ Suspended, Resumed, Started []*Work }

// weighed is what is chosen among.
type weighed struct {
	items []reallocation.Item
	works []*Work
	first []*Work // what goes first whatever it is worth: it was suspended for too long, or passed too often
	cores grid.MilliCPU
	head  *Work // first of the queue that waits
}

// Reallocate has that run of what runs, is suspended or waits which is worth most, where the order says that the cores
// are allocated anew. A rank of a gang, and what has counted resources, is neither suspended nor started by it; nor is
// what has its slot, or may not start.
func (e *Exec) Reallocate(now grid.Time, c *reallocation.Chooser) (out Reallocation) {
	if e.suspended == nil || e.sharing != nil {
		return out
	}
	e.lines.now = max(e.lines.now, now)
	x := weighed{cores: max(e.free.CPU, 0)}
	e.weighRunning(now, &x)
	memory := e.weighQueued(now, &x, e.free.Memory)
	chosen := c.Choose(x.cores.Cores(), float64(memory), x.items)
	wanted := x.first
	for i, w := range x.works {
		switch on := e.Suspended(w); {
		case chosen[i] && (on || w.State == grid.WorkQueued):
			wanted = append(wanted, w)
		case !chosen[i] && w.State == grid.WorkRunning && !on:
			out.Suspended = append(out.Suspended, w)
		}
	}
	if len(wanted) == 0 { // what runs is worth most
		return Reallocation{}
	}
	for _, w := range out.Suspended {
		e.suspend(now, w, wanted[0])
	}
	for _, w := range wanted {
		if w.State == grid.WorkQueued {
			e.Start(now, w)
			out.Started = append(out.Started, w)
			if x.head != nil && x.head.State == grid.WorkQueued {
				x.head.passed++
			}
			continue
		}
		e.resume(now, e.suspended.of(w))
		out.Resumed = append(out.Resumed, w)
	}
	return out
}

// weighRunning adds what runs and may be suspended, and what is suspended.
func (e *Exec) weighRunning(now grid.Time, x *weighed) {
	var overdue []*Work
	for _, w := range e.running {
		s := e.suspended.of(w)
		switch {
		case s != nil && s.on && s.time(now) >= grid.MaxSuspended:
			overdue = append(overdue, w)
		case s != nil && s.on:
			x.add(e, now, w, false, 0)
		case e.suspended.allow(now, w):
			x.cores += w.Spec.Needs.CPU
			x.add(e, now, w, true, 0)
		}
	}
	for _, w := range overdue {
		x.goesFirst(w)
	}
}

// weighQueued adds what waits and may start, in the order of turns, and returns the memory that is left for it.
func (e *Exec) weighQueued(now grid.Time, x *weighed, memory grid.Bytes) grid.Bytes {
	for _, l := range e.lines.inTurn(now) {
		for k, w := range l.Of.awake {
			if k == mostOfLine || len(x.items) >= mostItems {
				break
			}
			need := w.Spec.Needs.Resources
			if w.Held || w.Spec.IsGang() || need.Counts != "" || e.gate != nil && !e.gate(now, w) {
				continue
			}
			if x.head == nil {
				x.head = w
			}
			if w.passed >= MaxPassed && need.Memory <= memory && x.goesFirst(w) {
				memory -= need.Memory
				continue
			}
			x.add(e, now, w, false, need.Memory)
		}
	}
	return memory
}

// goesFirst has work run before anything is chosen, if there are cores for it.
func (x *weighed) goesFirst(w *Work) bool {
	if w.Spec.Needs.CPU > x.cores {
		return false
	}
	x.cores -= w.Spec.Needs.CPU
	x.first = append(x.first, w)
	return true
}

func (x *weighed) add(e *Exec, now grid.Time, w *Work, runs bool, memory grid.Bytes) {
	run, cores := e.lines.mean(w.class.name)/w.class.speedup, w.Spec.Needs.CPU.Cores()
	if run == 0 {
		run = unknownRun.Seconds()
	}
	left := run
	if w.State == grid.WorkRunning {
		left = max(run-e.age(now, w).Seconds(), run/10) // one that takes longer than expected ends some time
	}
	x.works = append(x.works, w)
	x.items = append(x.items, reallocation.Item{Cores: cores, Memory: float64(memory), Runs: runs, Facts: utility.Facts{
		Value: e.bid(w).Number() * cores, Waited: now.Sub(w.Accepted).Seconds(), Length: run * cores,
		Remaining: left, Cost: left * cores}})
}
