package live

import (
	"iter"
	"slices"

	"skep/grid"
)

// Retry puts a task that is in no queue among those to place again, ahead of those submitted later.
func (s *Table[T]) Retry(x T, submitted grid.Time) {
	s.Release(x)
	s.retries.Push(submitted, x)
}

// Retrying is the number of tasks to place again.
func (s *Table[T]) Retrying() int { return s.retries.Len() }

// Next takes the next task to place again; there must be one.
func (s *Table[T]) Next() T {
	_, x := s.retries.Pop()
	return x
}

// Park has an idle task wait for something.
func (s *Table[T]) Park(x T, a Awaited) {
	s.become(x, Waiting)
	p := x.place()
	if p.awaits = a; a.holdsBack() {
		p.of.heldBack++
		*s.counted(a)++
	}
	list := s.listOf(p)
	p.at, *list = len(*list), append(*list, x)
}

// Dequeue takes a task out of the queue that it is in, if any; one that waits is idle then. It reports whether that was
// the last one that held others of its job back.
func (s *Table[T]) Dequeue(x T) (lets bool) {
	p := x.place()
	if p.at == notQueued {
		return false
	}
	list := s.listOf(p)
	if list == nil {
		s.retries.Remove(p.at)
		return false
	}
	var none T
	last := len(*list) - 1
	(*list)[p.at] = (*list)[last]
	(*list)[p.at].place().at = p.at
	(*list)[last] = none
	*list, p.at = (*list)[:last], notQueued
	s.Release(x)
	if !p.awaits.holdsBack() {
		return false
	}
	*s.counted(p.awaits)--
	p.of.heldBack--
	return p.of.heldBack == 0
}

// listOf is the list that a waiting task is in; nil = it does not wait.
func (s *Table[T]) listOf(p *Place[T]) *[]T {
	switch {
	case p.phase != Waiting:
		return nil
	case p.awaits == ForMajority:
		return &p.of.majority
	case p.awaits == ForSlot:
		return &p.of.slots
	}
	return &s.waiting
}

// counted is the count of the tasks that await something that holds others back.
func (s *Table[T]) counted(a Awaited) *int {
	if a == ForMapping {
		return &s.unmapped
	}
	return &s.unproven
}

// Waiting is the tasks that wait for a timer, or for a change of the nodes known, but for those that await something of
// their job; valid until one is parked or dequeued.
func (s *Table[T]) Waiting() []T { return s.waiting }

// Unproven is the number of tasks that wait for a node on probation to deliver.
func (s *Table[T]) Unproven() int { return s.unproven }

// Unmapped is the number of tasks that await a mapping event.
func (s *Table[T]) Unmapped() int { return s.unmapped }

// Turn iterates over waiting tasks: over all, if they are no more than most, else over as many, from where the turn
// before ended.
func (s *Table[T]) Turn(most int) iter.Seq[T] {
	return func(yield func(T) bool) {
		list, start := s.waiting, s.turn
		if len(list) <= most {
			start = 0
		}
		s.first = start
		for k := range min(len(list), most) {
			s.turn = (start + k + 1) % len(list)
			if !yield(list[(start+k)%len(list)]) {
				return
			}
		}
	}
}

// LastTurn iterates over as many waiting tasks from where the last turn began: over those of that turn, unless tasks
// were parked or dequeued since.
func (s *Table[T]) LastTurn(most int) iter.Seq[T] {
	return func(yield func(T) bool) {
		for k := range min(len(s.waiting), most) {
			if !yield(s.waiting[(s.first+k)%len(s.waiting)]) {
				return
			}
		}
	}
}

// InOrder appends the handles of all tasks, oldest first.
func (s *Table[T]) InOrder(dst []uint64) []uint64 {
	for x := range s.by.All() {
		dst = append(dst, x.Key())
	}
	slices.Sort(dst)
	return dst
}
