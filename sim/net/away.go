package net

import (
	"time"

	"skep/sim"
)

// absences are the times at which each node was away, in order. Whoever submits to it waits then for the node and not for
// the grid.
type absences [][]absence

type absence struct{ from, to time.Duration }

// always is later than any run.
const always = time.Duration(1<<63 - 1)

// away reads from the faults, which are in order of time, when each node is away.
func away(faults []sim.Fault, nodes int) absences {
	a := make(absences, nodes)
	for k := range faults {
		f := &faults[k]
		for _, i := range f.Nodes {
			switch f.Kind {
			case sim.Crash, sim.Leave, sim.Drain, sim.Lose:
				if !a.gone(i) {
					a[i] = append(a[i], absence{f.At, always})
				}
			case sim.Restart:
				if a.gone(i) {
					a[i][len(a[i])-1].to = f.At
				}
			}
		}
	}
	return a
}

// gone reports whether a node is away for good.
func (a absences) gone(node int) bool {
	n := len(a[node])
	return n > 0 && a[node][n-1].to == always
}
