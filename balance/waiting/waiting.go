package waiting

import "skep/heap"

// Site is what a site says of itself, and what is known of it besides.
type Site struct {
	Free    int     // processors, A
	Total   int     // processors, C
	Queued  int     // tasks, Q
	Waiting float64 // estimated waiting time of a new task, seconds
	MeanRun float64 // of earlier tasks there, seconds; 0 = there were none
	Matched int     // tasks that were given to it since it said so, M
}

// Estimate is the time until a new task would start: the plan of the site is gone through [1, figure 3.3]. Running has
// for each processor the time that its task still takes, 0 where it is free; queued the durations of what waits, in its
// order. The figure in print says neither that times of running tasks are what is left of them nor what it returns: its
// text does.
func Estimate(running, queued []float64) float64 {
	if len(running) == 0 {
		return 0
	}
	var free heap.Heap[float64, struct{}, heap.Unique[struct{}]]
	for _, t := range running {
		free.Push(max(0, t), struct{}{})
	}
	for _, d := range queued {
		at, _ := free.Pop()
		free.Push(at+max(0, d), struct{}{})
	}
	soonest, _ := free.First()
	return soonest
}

// Rank is the higher the better a site is: the free part of its processors where there are any, else the waiting time,
// with a penalty for each task that it does not know of yet, over the mean run time [1, equation 3.4]. Usual is the
// mean run time of all sites, for one without a history; a second where that is 0, too.
func (s *Site) Rank(penalty, usual float64) float64 {
	mean := s.MeanRun
	if mean == 0 {
		mean = usual
	}
	if mean == 0 {
		mean = 1
	}
	free := max(float64(s.Free-s.Queued)/float64(max(s.Total, 1)), 0)
	return free + min(0, (-s.Waiting-penalty*float64(s.Matched))/mean)
}

// Admits reports whether a site may have one more task that waits: what waits there, and what it was given since it
// said so, is less than a part of its processors [1, equation 3.5]. One may always.
func (s *Site) Admits(part float64) bool {
	return float64(s.Queued+s.Matched) < max(part*float64(s.Total), 1)
}
