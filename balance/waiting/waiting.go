package waiting

import (
	"math"
	"slices"

	"skep/heap"
)

// Task is one that waits at a site.
type Task struct {
	Duration   float64 // as it is expected, seconds; 0 = it is not known
	Processors int     // that it needs at once; 0 = 1
}

// Estimate is the time until a new task of so many processors would start: the plan of the site is gone through [1,
// figure 3.3]. Running has for each processor the time that its task still takes, 0 where it is free; queued is what
// waits, in its order. A task whose duration is not known counts with the usual one. +Inf = the site has too few
// processors.
//
// The figure in print says neither that times of running tasks are what is left of them nor what it returns: its text
// does. It knows of tasks of one processor only. One of p begins when the p processors that are free first all are.
func Estimate(running []float64, queued []Task, next int, usual float64) float64 {
	var free heap.Heap[float64, struct{}, heap.Unique[struct{}]]
	for _, t := range running {
		free.Push(max(0, t), struct{}{})
	}
	for _, t := range queued {
		d := t.Duration
		if d == 0 {
			d = usual
		}
		n := max(t.Processors, 1)
		at := begin(&free, n)
		if math.IsInf(at, 1) {
			continue // it never begins, and none waits for it
		}
		for range n {
			free.Push(at+max(0, d), struct{}{})
		}
	}
	return begin(&free, max(next, 1))
}

// begin takes so many processors, those that are free first, and returns when all of them are; +Inf and none where
// there are too few.
func begin(free *heap.Heap[float64, struct{}, heap.Unique[struct{}]], n int) (at float64) {
	if free.Len() < n {
		return math.Inf(1)
	}
	for range n {
		at, _ = free.Pop()
	}
	return at
}

// DataRank is the highest bandwidth between a site and any of the stores that hold a copy of one of the files that a
// task needs, bytes a second [1, chapter 3]; 0 where some file has no copy that can be had, so that such sites repel
// the task. Rates has for each file the bandwidth to each holder of it, 0 = it cannot be reached.
func DataRank(rates [][]float64) (best float64) {
	for _, holders := range rates {
		of := 0.0
		for _, r := range holders {
			of = max(of, r)
		}
		if of == 0 {
			return 0
		}
		best = max(best, of)
	}
	return best
}

// TransferTime is the time in which a site would have fetched the files of a task, each from where it is had soonest;
// +Inf where one cannot be had. Rates is as in [DataRank]. [1] ranks by the bandwidth alone, which says nothing of
// several files.
func TransferTime(sizes []float64, rates [][]float64) (sum float64) {
	for k, size := range sizes {
		r := 0.0
		if len(rates[k]) > 0 {
			r = slices.Max(rates[k])
		}
		if !(r > 0) {
			return math.Inf(1)
		}
		sum += size / r
	}
	return sum
}
