package discovery

import (
	"slices"

	"skep/grid"
)

// Forward decides where a walk goes next. It may keep state; it draws only from the randomness given.
type Forward interface {
	// Next picks one of the eligible neighbours, which are at least one, ordered by identity, and do not
	// hold the asker or who was visited. key stands for needs that are alike.
	Next(now grid.Time, r *grid.Rand, key uint64, eligible []grid.NodeID) grid.NodeID

	// Learn tells the asker that a search for the key was met by provider.
	Learn(now grid.Time, key uint64, provider grid.NodeID)
}

var forwards = map[string]func() Forward{
	"random_walk": func() Forward { return randomWalk{} },
}

// Forwards lists the names of the ways to forward, in order.
func Forwards() []string {
	names := make([]string, 0, len(forwards))
	for n := range forwards {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// randomWalk picks any neighbour, each with the same chance [1].
type randomWalk struct{}

func (randomWalk) Next(_ grid.Time, r *grid.Rand, _ uint64, eligible []grid.NodeID) grid.NodeID {
	return eligible[r.IntN(len(eligible))]
}

func (randomWalk) Learn(grid.Time, uint64, grid.NodeID) {}
