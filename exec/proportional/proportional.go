package proportional

import (
	"cmp"
	"iter"
	"math"
	"slices"
)

// Task is what shares the cores.
type Task struct {
	Bid   float64 // more than 0
	Cores float64 // that it can use, more than 0
}

// Level returns the level at which the tasks have so many cores together; infinite if all can have what they need. The
// list is sorted.
func Level(cores float64, tasks []Task) float64 {
	slices.SortFunc(tasks, func(a, b Task) int { return cmp.Compare(b.Bid, a.Bid) })
	weight := 0.0 // of those that do not run at full speed
	for _, t := range tasks {
		weight += t.Bid * t.Cores
	}
	for _, t := range tasks {
		if level := cores / weight; level*t.Bid < 1 {
			return max(level, 0)
		}
		cores -= t.Cores
		weight -= t.Bid * t.Cores
	}
	return math.Inf(1)
}

// Speed returns the part of its full speed at which a task of a bid runs.
func Speed(level, bid float64) float64 { return min(1, level*bid) }

// Admits reports whether each of the tasks keeps the least speed if they share so many cores: whether the lowest bid
// does, or
//
//	Σ n·min(1, least·b/lowest) ≤ cores
func Admits(cores, least float64, tasks iter.Seq[Task]) bool {
	lowest := math.Inf(1)
	for t := range tasks {
		lowest = min(lowest, t.Bid)
	}
	const rounding = 1e-9
	for t := range tasks {
		if cores -= t.Cores * Speed(least/lowest, t.Bid); cores < -rounding {
			return false
		}
	}
	return true
}
