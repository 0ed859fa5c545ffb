package exclusion

import (
	"slices"

	"skep/grid"
)

// maxDemotions bounds how often a task changes its class.
const maxDemotions = 4

// Demotions are the earlier classes of a task, each with the worker that found it too small. The zero value is empty.
type Demotions []demotion

type demotion struct {
	node  grid.NodeID
	class string
}

// May reports whether the task may be moved to a class: not to one that it had before, and maxDemotions times at most.
func (d Demotions) May(class string) bool {
	return len(d) < maxDemotions && !slices.ContainsFunc(d, func(x demotion) bool { return x.class == class })
}

// Add adds the class from which a worker moved the task.
func (d *Demotions) Add(worker grid.NodeID, class string) { *d = append(*d, demotion{worker, class}) }

// By reports whether a node moved the task.
func (d Demotions) By(id grid.NodeID) bool {
	return slices.ContainsFunc(d, func(x demotion) bool { return x.node == id })
}
