package heap

import "cmp"

// Order is how elements with equal keys are ordered. Its zero value is used, so it has no state.
type Order[T any] interface {
	// Before reports whether a leaves before b, if their keys are equal.
	Before(a, b T) bool
}

// Unique is the [Order] of elements whose keys are never equal.
type Unique[T any] struct{}

// Before implements [Order].
func (Unique[T]) Before(T, T) bool { return false }

// Heap is a min-heap. Its zero value is empty, and tells no element its index.
type Heap[K cmp.Ordered, T any, O Order[T]] struct {
	order O
	list  []entry[K, T]
	moved func(x T, index int) // nil = nobody is told
}

type entry[K cmp.Ordered, T any] struct {
	key K
	x   T
}

// Track makes the heap, which is empty, tell each element its index whenever that changes; −1 = it left.
func (h *Heap[K, T, O]) Track(moved func(x T, index int)) { h.moved = moved }

// Len is the number of elements.
func (h *Heap[K, T, O]) Len() int { return len(h.list) }

// First returns the first element of a heap that is not empty, and its key.
func (h *Heap[K, T, O]) First() (K, T) { return h.list[0].key, h.list[0].x }

// Push adds an element.
func (h *Heap[K, T, O]) Push(key K, x T) {
	e := entry[K, T]{key, x}
	h.list = append(h.list, e)
	h.rise(len(h.list)-1, e)
}

// Pop removes the first element of a heap that is not empty, and returns it with its key.
func (h *Heap[K, T, O]) Pop() (K, T) {
	first := h.list[0]
	h.Remove(0)
	return first.key, first.x
}

// Remove removes the element at an index.
func (h *Heap[K, T, O]) Remove(i int) {
	if h.moved != nil {
		h.moved(h.list[i].x, -1)
	}
	last := len(h.list) - 1
	e := h.list[last]
	h.list[last] = entry[K, T]{}
	h.list = h.list[:last]
	if i < last && !h.sink(i, e) {
		h.rise(i, e)
	}
}

// Update changes the key of the element at an index. It must be called, too, if what its Order reads has changed.
func (h *Heap[K, T, O]) Update(i int, key K) {
	e := entry[K, T]{key, h.list[i].x}
	if !h.sink(i, e) {
		h.rise(i, e)
	}
}

// rise puts e into a hole at i, or further up. The hole moves, which is one write a level instead of a swap.
func (h *Heap[K, T, O]) rise(i int, e entry[K, T]) {
	for i > 0 {
		up := (i - 1) / 2
		u := &h.list[up]
		if u.key < e.key || u.key == e.key && !h.order.Before(e.x, u.x) {
			break
		}
		h.put(i, u)
		i = up
	}
	h.put(i, &e)
}

// sink puts e into a hole further down than i, if it belongs there, and reports whether it did.
func (h *Heap[K, T, O]) sink(i int, e entry[K, T]) bool {
	hole, list := i, h.list
	for child := 2*hole + 1; child < len(list); child = 2*hole + 1 {
		c := &list[child]
		if child+1 < len(list) {
			if r := &list[child+1]; r.key < c.key || r.key == c.key && h.order.Before(r.x, c.x) {
				child, c = child+1, r
			}
		}
		if e.key < c.key || e.key == c.key && !h.order.Before(c.x, e.x) {
			break
		}
		h.put(hole, c)
		hole = child
	}
	if hole > i {
		h.put(hole, &e)
	}
	return hole > i
}

func (h *Heap[K, T, O]) put(i int, e *entry[K, T]) {
	h.list[i] = *e
	if h.moved != nil {
		h.moved(e.x, i)
	}
}
