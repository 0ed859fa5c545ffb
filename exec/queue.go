package exec

import (
	"cmp"
	"slices"
	"time"

	"skep/grid"
)

// Next examines only work that may start: work that the gate rejected is asleep until it is woken. Thousands of
// attempts can wait for a start lease, and each end of an attempt calls Next. Work that will not start soon is dormant:
// a node on which nothing else waits is idle, and what comes to it starts at once.

// enqueue adds work to the end of the queue; a further attempt of a task goes before tasks submitted later, unless
// these have been passed too often.
func (e *Exec) enqueue(w *Work, age time.Duration) {
	at := e.queue.Len()
	w.submitted = w.Accepted.Add(-age)
	if w.ID.N > 1 {
		for q := e.queue.all(); at > 0 && q[at-1].submitted > w.submitted && q[at-1].passed < MaxPassed; at-- {
			q[at-1].passed++
		}
	}
	e.insert(at, w)
}

// orderGap is the gap between consecutive orders.
const orderGap = 1 << 20

// insert puts work at an index of the queue.
func (e *Exec) insert(at int, w *Work) {
	if at == e.queue.Len() {
		w.order = 0
		if at > 0 {
			w.order = e.queue.list[len(e.queue.list)-1].order + orderGap
		}
		e.queue.push(w)
	} else {
		e.queue.insert(at, w)
		q := e.queue.list
		if w.order = q[1].order - orderGap; at > 0 {
			before, after := q[at-1].order, q[at+1].order
			if w.order = before + (after-before)/2; w.order == before { // no gap is left
				for i := range q {
					q[i].order = int64(i) * orderGap
				}
			}
		}
	}
	w.count(1)
	w.sleep = awake
	e.addAwake(w)
}

// count counts queued work that waits for a slot, in its class and its line.
func (w *Work) count(by int64) {
	if !w.Held {
		w.class.queue(w, by)
		w.line.Of.count(w, by)
	}
}

func byOrder(w *Work, turn int64) int { return cmp.Compare(w.order, turn) }

// dequeue removes work from the queue.
func (e *Exec) dequeue(w *Work) {
	e.queue.remove(w)
	e.removeAwake(w)
	if w.sleep == dormant {
		e.lines.dormant--
	} else {
		w.count(-1)
	}
	w.sleep = awake
}

// Waiting returns the number of queued attempts that other work may have to wait for: all but the dormant ones.
func (e *Exec) Waiting() int { return e.queue.Len() - e.lines.dormant }

// withoutOrdered is without for a list sorted by order.
func withoutOrdered(list []*Work, w *Work) []*Work {
	at, ok := slices.BinarySearchFunc(list, w.order, byOrder)
	if !ok || list[at] != w {
		panic("exec: work is in the list of its state")
	}
	if len(list) < longList || at > len(list)/2 {
		return slices.Delete(list, at, at+1)
	}
	copy(list[1:at+1], list[:at]) // most are removed at the front
	list[0] = nil
	return list[1:]
}

// longList is the length from which the shorter part of a list is moved on a removal.
const longList = 64

// Ready marks an attempt's inputs as present.
func (e *Exec) Ready(id grid.AttemptID) {
	if w := e.Get(id); w != nil && !w.ready {
		if w.ready = true; w.State == grid.WorkQueued {
			e.addAwake(w)
		}
	}
}

// Next removes the next work that may start now from the queue and takes its resources from the ledger; nil if there
// is none.
func (e *Exec) Next(now grid.Time) *Work {
	e.rejected = false
	w := e.nextHeld(now)
	if w == nil && !e.overdue() {
		w = e.next(now)
	}
	if e.rejected {
		e.lines.dropSleeping()
	}
	if w != nil {
		e.Start(now, w)
	}
	return w
}

// Start has queued work run, for which there is a slot.
func (e *Exec) Start(now grid.Time, w *Work) {
	e.dequeue(w)
	if w.Held {
		e.startHeld(w)
	} else {
		e.free = e.free.Minus(w.Spec.Needs.Resources)
		e.check()
	}
	w.State, w.Started, w.lostAtStart = grid.WorkRunning, now, e.lost
	if e.sharing != nil {
		w.lostAtStart = e.sharing.begin(now, e.bid(w), w.Spec.Needs.CPU)
	}
	e.lines.started(now, w)
	e.running = append(e.running, w)
}

// next finds the next work that may start now: the first of the line whose turn it is, unless it lacks something.
func (e *Exec) next(now grid.Time) *Work {
	if e.lines.all == nil || e.noCores() {
		return nil
	}
	s := search{e: e, now: now}
	l := e.lines.all.Best(now)
	if l == nil {
		return nil
	}
	if s.line(l); s.over {
		return s.found
	}
	if _, single := e.lines.all.Single(); single {
		return nil
	}
	for _, other := range e.lines.inTurn(now) {
		if other == l {
			continue
		}
		if s.line(other); s.over {
			return s.found
		}
	}
	return nil
}

// search is one call of Next: it looks at the queued work in the order of its turns.
type search struct {
	e     *Exec
	now   grid.Time
	head  *Work // the first that is ready and lacks cores or memory
	short shortages
	found *Work
	over  bool // nothing further is looked at
}

// line looks at the work of a line.
func (s *search) line(l *line) {
	e := s.e
	for _, w := range l.Of.awake {
		if w.Held {
			continue
		}
		need := &w.Spec.Needs.Resources
		fits := e.fitsPlain(w.Spec.Bid(), *need)
		if fits && need.Counts != "" && !s.short.allow(e, w) {
			if s.short.isNews() && e.gateAllows(s.now, w) {
				s.short.add(w)
			}
			continue
		}
		switch {
		case !fits && s.head != nil:
		case !e.gateAllows(s.now, w):
		case fits:
			if s.head != nil {
				s.head.passed++
			}
			s.short.pass(need.Counts)
			s.found, s.over = w, true
			return
		case w.passed >= MaxPassed || e.noCores():
			s.over = true
			return
		default:
			s.head = w
		}
	}
}

// Gate makes Next skip work that may rejects, until Wake. may must not change anything.
func (e *Exec) Gate(may func(now grid.Time, w *Work) bool) { e.gate = may }

// gateAllows asks the gate, and puts rejected work to sleep.
func (e *Exec) gateAllows(now grid.Time, w *Work) bool {
	if e.gate == nil || e.gate(now, w) {
		return true
	}
	w.sleep, e.rejected = asleep, true
	return false
}

// Wake makes Next examine queued work again: the gate may accept it now.
func (e *Exec) Wake(w *Work) {
	if w.State != grid.WorkQueued || w.sleep == awake {
		return
	}
	if w.sleep == dormant {
		e.lines.dormant--
		w.count(1)
	}
	w.sleep = awake
	e.addAwake(w)
}

// MakeDormant makes queued work count for nothing in what other work waits for, until Wake: nobody knows when the gate
// will accept it. It reports whether the work was not dormant before.
func (e *Exec) MakeDormant(w *Work) bool {
	if w.State != grid.WorkQueued || w.sleep == dormant {
		return false
	}
	e.removeAwake(w)
	w.count(-1)
	w.sleep = dormant
	e.lines.dormant++
	return true
}
