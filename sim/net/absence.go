package net

import (
	"time"

	"skep/sim"
)

// absences are the intervals in which each node was down, in order. Tasks submitted to a node wait for it then, not
// for the grid.
type absences [][]absence

type absence struct{ from, to time.Duration }

// forever is later than the end of any run.
const forever = time.Duration(1<<63 - 1)

// away computes the absences of each node from the faults, which are in order of time.
func away(faults []sim.Fault, nodes int) absences {
	a := make(absences, nodes)
	for k := range faults {
		f := &faults[k]
		for _, i := range f.Nodes {
			switch f.Kind {
			case sim.Crash, sim.Leave, sim.Drain, sim.Lose:
				if !a.neverReturns(i) {
					a[i] = append(a[i], absence{f.At, forever})
				}
			case sim.Restart:
				if a.neverReturns(i) {
					a[i][len(a[i])-1].to = f.At
				}
			}
		}
	}
	return a
}

// neverReturns reports whether a node stays down until the end.
func (a absences) neverReturns(node int) bool {
	n := len(a[node])
	return n > 0 && a[node][n-1].to == forever
}
