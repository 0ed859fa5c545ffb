package exec

import "skep/grid"

// Adopt has work run that was started before a restart of the node, and goes on: it has its slot already. Where the
// node has less than it had, its capacity is until the next restart what such work takes.
func (e *Exec) Adopt(now grid.Time, w *Work) {
	need := w.Spec.Needs.Resources
	grow := grid.Resources{CPU: max(need.CPU-e.free.CPU, 0), Memory: max(need.Memory-e.free.Memory, 0)}
	e.capacity, e.free = e.capacity.Plus(grow), e.free.Plus(grow)
	e.Start(now, w)
}
