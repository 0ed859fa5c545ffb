package federation

import (
	"slices"

	"skep/balance/waiting"
)

// task is one of the grid, or of a site's own users.
type task struct {
	local    bool
	width    int     // processors
	duration float64 // seconds that it computes
	expected float64 // as its site has it; 0 = unknown

	copies []int // stores that hold its file
	from   int   // the store that it fetches it from
	other  bool  // it fails for another reason

	site     int
	arrived  float64
	given    float64 // when it came to a site
	estimate float64 // of its wait there, made then
	advert   float64 // what the advert said of that
	started  float64
	ends     float64
	measured bool
	failed   bool
	missed   bool // for a store
}

// site is a cluster with its queue.
type site struct {
	total, free int
	queue       []*task
	running     []*task

	ended, worked float64 // tasks, and the seconds that they took in all
	begun         int     // tasks that were given since the last advert and had to wait
	grid          int     // tasks of the grid that wait
}

// mean is the mean run time so far, 0 before the first end.
func (s *site) mean() float64 {
	if s.ended == 0 {
		return 0
	}
	return s.worked / s.ended
}

// wait is the estimated waiting time of a new task of one processor.
func (s *site) wait(now float64) float64 {
	mean := s.mean()
	busy := make([]float64, 0, s.total)
	for _, t := range s.running {
		of := t.expected
		if of == 0 {
			of = mean
		}
		for range t.width {
			busy = append(busy, max(of-(now-t.started), 0))
		}
	}
	busy = append(busy, make([]float64, s.free)...)
	line := make([]waiting.Task, 0, len(s.queue))
	for _, t := range s.queue {
		line = append(line, waiting.Task{Duration: t.expected, Processors: t.width})
	}
	return waiting.Estimate(busy, line, 1, mean)
}

// advert is what the site says of itself.
func (s *site) advert(now float64) waiting.Site {
	a := waiting.Site{Free: s.free, Total: s.total, Queued: len(s.queue), Waiting: s.wait(now), MeanRun: s.mean()}
	for _, t := range s.queue {
		a.Wanted += t.width
	}
	return a
}

// start takes the first of the queue if it fits; nil = none does.
func (s *site) start(now float64) *task {
	if len(s.queue) == 0 || s.queue[0].width > s.free {
		return nil
	}
	t := s.queue[0]
	s.queue = s.queue[1:]
	s.free -= t.width
	t.started = now
	s.running = append(s.running, t)
	if !t.local {
		s.grid--
	}
	return t
}

// end takes a task off what runs.
func (s *site) end(now float64, t *task) {
	at := slices.Index(s.running, t)
	if at < 0 {
		panic("federation: a task ends that does not run")
	}
	s.running = slices.Delete(s.running, at, at+1)
	s.free += t.width
	s.ended, s.worked = s.ended+1, s.worked+now-t.started
}
