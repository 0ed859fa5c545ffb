package live

import (
	"fmt"
	"iter"

	"skep/grid"
	"skep/heap"
	"skep/sparse"
)

// Table is the live tasks of a node.
type Table[T Task[T]] struct {
	retries    heap.Heap[grid.Time, T, byHandle[T]] // to place again, oldest submission first
	waiting    []T                                  // those that await nothing of their job; in no order
	unproven   int                                  // of them, those that wait for a node on probation to deliver
	unmapped   int                                  // of them, those that await a mapping event
	turn       int                                  // where Turn looks next
	first      int                                  // where it looked last
	inFlight   int
	by         sparse.Map[uint64, T]
	lastHandle uint64
}

// byHandle orders the tasks of jobs that arrived at the same time.
type byHandle[T Task[T]] struct{}

// Before implements [heap.Order].
func (byHandle[T]) Before(a, b T) bool { return a.Key() < b.Key() }

// New returns an empty table. Each task to place again knows its place, so one of a hundred thousand is taken out
// without a search.
func New[T Task[T]]() (s Table[T]) {
	s.retries.Track(func(x T, i int) { x.place().at = i })
	return s
}

// Handle gives a handle that no task has: who else sets timers or polls takes theirs here.
func (s *Table[T]) Handle() uint64 {
	s.lastHandle++
	return s.lastHandle
}

// Add adds a task of a job; it is idle, and in no queue.
func (s *Table[T]) Add(x T, of *Job[T]) {
	p := x.place()
	p.handle, p.at, p.of = s.Handle(), notQueued, of
	s.by.Put(x)
}

// Get returns a task; nil if it is not live any more.
func (s *Table[T]) Get(handle uint64) T { return s.by.Get(handle) }

// Drop removes an idle task.
func (s *Table[T]) Drop(x T) {
	if p := x.place(); p.phase != Idle || p.at != notQueued {
		panic(fmt.Sprintf("live: a task that is dropped is idle and in no queue: this one is %v, at %d", p.phase, p.at))
	}
	s.by.Drop(x.Key())
}

// Poll records that the nodes that may run a task are asked; forAll = also for the other untried tasks of its job.
func (s *Table[T]) Poll(x T, forAll bool) {
	if s.become(x, Polling); forAll {
		x.place().of.batchPoll = x
	}
}

// Offer records that an attempt is offered to its worker.
func (s *Table[T]) Offer(x T) { s.become(x, Offered) }

// Accept records that a worker has the attempt.
func (s *Table[T]) Accept(x T) { s.become(x, Placed) }

// Release ends a task's phase: it is decided anew, or is over.
func (s *Table[T]) Release(x T) { s.become(x, Idle) }

// become changes a task's phase, and the counts with it.
func (s *Table[T]) become(x T, q Phase) {
	p := x.place()
	if !p.phase.mayBecome(q) {
		panic(fmt.Sprintf("live: a task is decided anew before it is %v: this one is %v", q, p.phase))
	}
	if p.phase == Placed {
		p.status.Clear(&p.of.running)
	}
	if p.phase == Polling {
		p.of.polling--
	} else if q == Polling {
		p.of.polling++
	}
	if p.phase.inFlight() {
		s.inFlight--
		if p.of.batchPoll == x {
			var none T
			p.of.batchPoll = none
		}
	}
	if p.phase = q; q.inFlight() {
		s.inFlight++
	}
}

// InFlight is the number of decisions in flight: tasks that are polled for or offered.
func (s *Table[T]) InFlight() int { return s.inFlight }

// Len is the number of live tasks.
func (s *Table[T]) Len() int { return s.by.Len() }

// All iterates over the tasks, in no order.
func (s *Table[T]) All() iter.Seq[T] { return s.by.All() }

// Broken returns an invariant that does not hold between two steps, when each idle task is to be placed again; "" = all
// do. It takes time in proportion to all tasks.
func (s *Table[T]) Broken() string {
	inFlight, unproven, unmapped, queued := 0, 0, 0, s.retries.Len()
	jobs := map[*Job[T]]counts{}
	for x := range s.by.All() {
		p := x.place()
		if p.phase.inFlight() {
			inFlight++
		}
		jobs[p.of] = p.count(jobs[p.of])
		if queues := p.phase == Idle || p.phase == Waiting; queues != (p.at != notQueued) {
			return fmt.Sprintf("task %d is %v, and in a queue: %v", p.handle, p.phase, !queues)
		} else if !queues {
			continue
		}
		if list := s.listOf(p); list == nil {
			queued--
		} else if p.at >= len(*list) || (*list)[p.at] != x {
			return fmt.Sprintf("task %d is not where it waits", p.handle)
		}
	}
	for j, is := range jobs {
		if said := j.counts(); said != is {
			return fmt.Sprintf("a job counts %+v, and its tasks are %+v", said, is)
		}
	}
	for _, x := range s.waiting {
		switch p := x.place(); {
		case s.by.Get(p.handle) != x || p.phase != Waiting || p.awaits == ForMajority || p.awaits == ForSlot:
			return fmt.Sprintf("task %d waits that does not", p.handle)
		case p.awaits == ForProof:
			unproven++
		case p.awaits == ForMapping:
			unmapped++
		}
	}
	if queued != 0 || inFlight != s.inFlight || unproven != s.unproven || unmapped != s.unmapped {
		return fmt.Sprintf("%d tasks too many are to be placed again; %d decisions count, %d are in flight; "+
			"%d tasks count as unproven, %d are; %d as unmapped, %d are", queued, s.inFlight, inFlight, s.unproven, unproven,
			s.unmapped, unmapped)
	}
	return ""
}
