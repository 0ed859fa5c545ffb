package balance

import (
	"time"

	"skep/grid"
)

// Keeper decides which class a node is kept for, where nobody else says: it moves to the class that needs it more,
// one node at a time and not back at once.
type Keeper struct {
	// Gain is the share by which a move must lower the largest load for each node, max_k load_k/n_k; 0 = 0.10.
	// Higher moves more seldom.
	Gain float64

	// Hold is how long a node stays with a class; 0 = 5 min. Higher follows changes later.
	Hold time.Duration

	class string
	since grid.Time
	kept  bool
}

// Kept is the class that the node is kept for; "" before the first Look.
func (k *Keeper) Kept() string { return k.class }

// Look reports whether the node, which has nothing to do, takes another class now, after which Kept is that. counts
// are the nodes kept for each class of demand, this one with them. A node that has no class, or one for which
// nothing comes any more, takes that which needs it most. Others that see the same think of the same: of the nodes
// of the class that gives one away each does so with the chance of one in their number.
func (k *Keeper) Look(now grid.Time, demand []Demand, counts []int, r *grid.Rand) bool {
	own := -1
	for i := range demand {
		if demand[i].Class == k.class && k.kept {
			own = i
		}
	}
	to := neediest(demand, counts, -1, -1)
	if to < 0 || to == own {
		return false
	}
	if own >= 0 && demand[own].load() > 0 {
		hold, gain := k.Hold, k.Gain
		if hold == 0 {
			hold = 5 * time.Minute
		}
		if gain == 0 {
			gain = 0.10
		}
		if now.Sub(k.since) < hold || counts[own] <= 1 {
			return false
		}
		before := needs(demand, counts, to, -1, -1)
		worst := neediest(demand, counts, own, to)
		if needs(demand, counts, worst, own, to) > (1-gain)*before || r.IntN(counts[own]) != 0 {
			return false
		}
	}
	k.class, k.since, k.kept = demand[to].Class, now, true
	return true
}

// neediest is the class with the largest load for each node, after one has moved from one class to another; −1 if
// there is no load.
func neediest(demand []Demand, counts []int, from, to int) int {
	best := -1
	for i := range demand {
		if demand[i].load() > 0 && (best < 0 || needs(demand, counts, i, from, to) > needs(demand, counts, best, from, to)) {
			best = i
		}
	}
	return best
}

// needs is the load of a class for each node; a class without a node needs one more than any other.
func needs(demand []Demand, counts []int, i, from, to int) float64 {
	n := counts[i]
	if i == from {
		n--
	}
	if i == to {
		n++
	}
	if n <= 0 {
		return 1e9 + demand[i].load()
	}
	return demand[i].load() / float64(n)
}
