package lpas

import "math"

// Basis is what the owner of a problem keeps between two solves: N prices and about 5N + M int32. The
// zero value is a cold start.
//
// Nothing in it is trusted. A price is a starting point, so any positive number will do; which machine
// belongs to whom and which machines are shared is kept only where the new rates confirm it at those
// prices. A basis of another problem (rates that changed, a machine that came or went, a class that
// was added) can therefore cost pivots, and never the result. What goes by position is best kept: add
// machines and classes at the end, and move the last one to where one was removed.
type Basis struct {
	price []float64 // y_i within the level, 0: unknown
	level []int32   // of the class, -1: was not in the problem
	owner []int32   // of the machine; no class: none
	edges []edge    // the shared machines
}

// store keeps the state in which a solve ended.
func (b *Basis) store(w *Workspace) {
	b.price = append(b.price[:0], w.y...)
	b.level = append(b.level[:0], w.level...)
	b.owner = append(b.owner[:0], w.owner...)
	b.edges = append(b.edges[:0], w.edges...)
}

// begin sets prices, levels, owners and ties from a basis as far as it holds for this problem, and
// from nothing else where it does not.
func (w *Workspace) begin(b *Basis) {
	known := 0
	w.levels = 1
	for i := range w.y {
		w.y[i] = 0
		if i < len(b.price) && i < len(b.level) && b.price[i] >= 1e-100 && b.price[i] <= 1e100 {
			w.y[i] = b.price[i]
			if w.level[i] >= 0 && b.level[i] >= 0 {
				known++
				w.level[i] = b.level[i]
			}
		}
	}
	same := 0
	if known > 0 {
		same = copy(w.owner, b.owner)
	}
	for j := same; j < w.m; j++ {
		w.owner[j] = int32(w.n)
	}
	if known == 0 {
		w.guess()
		return
	}
	w.pack()
	w.adopt()
	w.assign(b.edges)
}

// pack numbers the levels 0, 1, … without gaps, in their order.
func (w *Workspace) pack() {
	w.levels = 0
	w.open, w.lambda = w.open[:0], w.lambda[:0]
	for {
		next, low := int32(w.levels), int32(math.MaxInt32)
		for _, l := range w.level {
			if l >= next {
				low = min(low, l)
			}
		}
		if low == math.MaxInt32 {
			return
		}
		for i, l := range w.level {
			if l == low {
				w.level[i] = next
			}
		}
		w.levels++
		w.open, w.lambda = append(w.open, true), append(w.lambda, 0)
	}
}

// adopt prices the classes that the basis did not know: each as high as it can be before it takes a
// machine from the others of level 0, so that it starts as the poorest.
func (w *Workspace) adopt() {
	w.rows = w.rows[:0]
	for i, l := range w.level {
		if l == 0 && w.y[i] > 0 {
			w.rows = append(w.rows, int32(i))
		}
	}
	missing := false
	for i, l := range w.level {
		missing = missing || l >= 0 && w.y[i] == 0
	}
	if !missing {
		return
	}
	maxRows(w.a, w.mu, w.y, w.rows)
	for i, l := range w.level {
		if l < 0 || w.y[i] > 0 {
			continue
		}
		y := math.Inf(1)
		for j, x := range w.mu[i*w.m:][:w.m] {
			if x > 0 && w.cap[j] > 0 && w.a[j] > 0 {
				y = min(y, w.a[j]/x)
			}
		}
		if math.IsInf(y, 1) {
			y = 1 // it shares no machine with those that are known: any price will do
		}
		w.y[i] = y
	}
}
