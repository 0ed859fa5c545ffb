package proportional

import (
	"cmp"
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

// Room returns how many cores a further task of a bid may need so that all keep the least speed if they share so many
// cores: that is, if the lowest bid does, or
//
//	n·min(1, least·bid/lowest)  +  Σ n·min(1, least·b/lowest)  ≤  cores
func Room(cores, least, bid float64, tasks []Task) float64 {
	lowest := bid
	for _, t := range tasks {
		lowest = min(lowest, t.Bid)
	}
	for _, t := range tasks {
		cores -= t.Cores * Speed(least/lowest, t.Bid)
	}
	const rounding = 1e-9
	return (cores + rounding) / Speed(least/lowest, bid)
}
