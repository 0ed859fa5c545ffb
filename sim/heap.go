package sim

// Heap is a 4-ary heap [2]: simple, and fastest with few pending events. It is the reference in the ladder's tests.
type Heap struct{ ev []Event }

// arity is the number of children. Four events of 32 bytes are two cache lines; the depth is half of a binary heap's.
const arity = 4

// NewHeap returns an empty heap.
func NewHeap() *Heap { return &Heap{} }

// Len is the number of events.
func (h *Heap) Len() int { return len(h.ev) }

// Push adds an event. A hole rises from the end to the event's place: one move a level instead of a swap.
func (h *Heap) Push(e Event) {
	h.ev = append(h.ev, e)
	ev, hole := h.ev, len(h.ev)-1
	for hole > 0 {
		up := (hole - 1) / arity
		if !e.Before(&ev[up]) {
			break
		}
		ev[hole] = ev[up]
		hole = up
	}
	ev[hole] = e
}

// Pop removes the first event.
func (h *Heap) Pop() (Event, bool) {
	n := len(h.ev) - 1
	if n < 0 {
		return Event{}, false
	}
	first, last := h.ev[0], h.ev[n]
	h.ev = h.ev[:n]
	if n > 0 {
		h.sink(last)
	}
	return first, true
}

// sink moves a hole down from the root to the place of e.
func (h *Heap) sink(e Event) {
	ev, hole := h.ev, 0
	for {
		child := hole*arity + 1
		if child >= len(ev) {
			break
		}
		least := child
		for c := child + 1; c < min(child+arity, len(ev)); c++ {
			if ev[c].Before(&ev[least]) {
				least = c
			}
		}
		if e.Before(&ev[least]) {
			break
		}
		ev[hole] = ev[least]
		hole = least
	}
	ev[hole] = e
}
