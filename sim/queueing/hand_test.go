package queueing

import (
	"math"
	"math/rand/v2"
)

// byHand is the least that a simulation of System 4.A under MCT needs, written for just that system: a heap
// of events, arrays of fixed size, and nothing that can be set. It is what the simulator's speed is
// measured against.
type byHand struct {
	rand   *rand.Rand
	heap   []happening
	now    float64
	inside float64
	area   float64
	queues [7]fifo
	ready  [7]float64
	inv    [4][7]float64
	upTo   [4]float64 // cumulated arrival rates
	count  [4]int
	time   [4]float64
}

// happening is an arrival, with machine −1, or the end of a task.
type happening struct {
	at      float64
	machine int
}

func newByHand(seed uint64) *byHand {
	s := system4A(false)
	h := &byHand{rand: rand.New(rand.NewPCG(seed, 0))}
	total := 0.0
	for i := range 4 {
		for j := range 7 {
			h.inv[i][j] = 1 / s.Mu[i][j]
		}
		total += s.total(i)
		h.upTo[i] = total
	}
	return h
}

func (h *byHand) push(e happening) {
	h.heap = append(h.heap, e)
	k := len(h.heap) - 1
	for k > 0 {
		up := (k - 1) / 2
		if h.heap[up].at <= e.at {
			break
		}
		h.heap[k] = h.heap[up]
		k = up
	}
	h.heap[k] = e
}

func (h *byHand) pop() happening {
	first, last := h.heap[0], h.heap[len(h.heap)-1]
	h.heap = h.heap[:len(h.heap)-1]
	n, k := len(h.heap), 0
	for n > 0 {
		c := 2*k + 1
		if c >= n {
			break
		}
		if c+1 < n && h.heap[c+1].at < h.heap[c].at {
			c++
		}
		if last.at <= h.heap[c].at {
			break
		}
		h.heap[k] = h.heap[c]
		k = c
	}
	if n > 0 {
		h.heap[k] = last
	}
	return first
}

func (h *byHand) run(tasks int) {
	h.push(happening{h.rand.ExpFloat64() / h.upTo[3], -1})
	for tasks > 0 {
		e := h.pop()
		h.area += h.inside * (e.at - h.now)
		h.now = e.at
		if e.machine >= 0 {
			h.end(e.machine)
			continue
		}
		tasks--
		h.arrive()
		h.push(happening{h.now + h.rand.ExpFloat64()/h.upTo[3], -1})
	}
}

func (h *byHand) arrive() {
	u, i := h.rand.Float64()*h.upTo[3], 0
	for u >= h.upTo[i] {
		i++
	}
	best, ect := 0, math.Inf(1)
	for j := range 7 {
		if x := h.ready[j] + h.inv[i][j]; x < ect {
			best, ect = j, x
		}
	}
	t := task{h.now, h.rand.ExpFloat64() * h.inv[i][best], int32(i)}
	h.inside++
	h.ready[best] = ect
	q := &h.queues[best]
	if q.push(t); q.n == 1 {
		h.push(happening{h.now + t.size, best})
	}
}

func (h *byHand) end(j int) {
	t := h.queues[j].pop()
	h.inside--
	h.count[t.class]++
	h.time[t.class] += h.now - t.since
	h.ready[j] -= h.inv[t.class][j]
	if q := &h.queues[j]; q.n > 0 {
		h.push(happening{h.now + q.first().size, j})
	} else {
		h.ready[j] = 0
	}
}

// bare is what of byHand is heap operations and draws: two events for each task, with about as many
// pending, two exponentials and one choice.
func (h *byHand) bare(tasks int) {
	for j := range 8 {
		h.push(happening{h.rand.ExpFloat64(), j})
	}
	for range tasks {
		e := h.pop()
		h.area += h.rand.Float64()
		h.push(happening{e.at + h.rand.ExpFloat64(), e.machine})
		e = h.pop()
		h.push(happening{e.at + h.rand.ExpFloat64(), e.machine})
	}
}
