package lpas

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
	owner []int32   // of the machine, -1: none
	edges []edge    // the shared machines
}

// Reset makes the next solve a cold start. The memory is kept.
func (b *Basis) Reset() {
	b.price, b.level, b.owner, b.edges = b.price[:0], b.level[:0], b.owner[:0], b.edges[:0]
}

// store keeps the state in which a solve ended.
func (b *Basis) store(w *Workspace) {
	b.price = append(b.price[:0], w.y...)
	b.level = append(b.level[:0], w.level...)
	b.owner = append(b.owner[:0], w.owner...)
	b.edges = append(b.edges[:0], w.edges...)
	for j, o := range b.owner {
		if int(o) == w.n {
			b.owner[j] = -1
		}
	}
}
