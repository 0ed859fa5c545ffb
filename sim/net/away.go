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
			n := len(a[i])
			gone := n > 0 && a[i][n-1].to == always
			switch f.Kind {
			case sim.Crash, sim.Leave, sim.Drain, sim.Lose:
				if !gone {
					a[i] = append(a[i], absence{f.At, always})
				}
			case sim.Restart:
				if gone {
					a[i][n-1].to = f.At
				}
			}
		}
	}
	return a
}
