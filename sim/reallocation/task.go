package reallocation

import (
	"math"

	"skep/grid"
)

// task is one of an experiment.
type task struct {
	submit, length float64 // s; the work in seconds of one processor of performance 1
	value          float64 // of its best option
	options        []option
	fewest         int // processors of an option

	input   input
	left    float64 // work
	on      int     // index of the option that runs; −1 = none
	since   float64 // when it began or was last looked at
	ends    float64
	started float64 // for the first time; −1 = not yet
	ended   float64 // −1 = not yet
}

// option is a number of processors on a cluster.
type option struct {
	cluster, procs int
	value          float64
}

// streams of an experiment's chance.
const (
	streamTasks = 1 + iota
	streamPerformance
	streamBandwidth
	streamInputs
	streamHeads
)

const (
	day  = 86_400
	hour = 3600

	leastLength = 600 // s, of the random workload; shorter draws are drawn again
)

// performances are those of the clusters.
func (s *System) performances(seed uint64) []float64 {
	out, sum, total := make([]float64, len(s.Clusters)), 0.0, 0.0
	r := grid.NewRand(seed, streamPerformance)
	for k, c := range s.Clusters {
		if out[k] = 1; s.Uneven {
			out[k] = 0.5 + r.Float64()
		}
		sum, total = sum+out[k]*float64(c), total+float64(c)
	}
	for k := range out {
		out[k] *= total / sum
	}
	return out
}

// draw draws the tasks of an experiment. The pace is the mean time between arrivals in hours of the random workload,
// and what times between arrivals are multiplied by of the trace; of tasks with inputs it is the factor on their sizes.
func (s *System) draw(pace float64, seed uint64) ([]task, error) {
	r, w := grid.NewRand(seed, streamTasks), &s.Workload
	interval := pace * hour
	switch {
	case s.Data.on():
		interval = w.Trace.Interval
	case w.Kind == "trace":
		interval = pace * w.Trace.Interval
	}
	tasks, now := make([]task, 0, w.Tasks), 0.0
	for len(tasks) < w.Tasks {
		length, want := w.one(r)
		value := positive(r, 10, 4)
		gap := r.ExpFloat64()
		t := task{submit: now, length: length, value: value, left: length, on: -1, started: -1, ended: -1,
			input: input{at: nowhere}}
		s.options(&t, want)
		if len(t.options) == 0 {
			continue
		}
		tasks, now = append(tasks, t), now+gap*interval
	}
	if s.Data.on() {
		return tasks, s.inputs(tasks, pace, seed)
	}
	return tasks, nil
}

// one draws a task's length and the processors that it wants.
func (w *Workload) one(r *grid.Rand) (length float64, want int) {
	if w.Kind == "random" {
		want = 1 << r.IntN(w.Widest+1)
		mean, deviation := 1.0*day, 0.5*day
		if r.IntN(2) == 1 {
			mean, deviation = 8*day, 2*day
		}
		for length <= leastLength {
			length = mean + deviation*r.NormFloat64()
		}
		return length, want
	}
	x := r.Float64()
	for want = 0; want < len(widths)-1 && x >= widths[want]; want++ {
		x -= widths[want]
	}
	wall := 0.0
	for wall < w.Trace.Bounds[0] || wall > w.Trace.Bounds[1] {
		wall = w.Trace.Median * math.Exp(w.Trace.Sigma*r.NormFloat64())
	}
	return wall * float64(int(1)<<want), 1 << want
}

// positive draws of a normal distribution until it is above 0.
func positive(r *grid.Rand, mean, deviation float64) (x float64) {
	for x <= 0 {
		x = mean + deviation*r.NormFloat64()
	}
	return x
}

// options gives a task its widths on every cluster that is large enough, the widest first. What it is worth counts from
// the widest that fits anywhere.
func (s *System) options(t *task, want int) {
	widest := 0
	for p, n := want, 0; p >= 1 && n < s.Workload.Options; p, n = p/2, n+1 {
		for k, c := range s.Clusters {
			if p > c {
				continue
			}
			widest = max(widest, p)
			t.options = append(t.options, option{k, p, t.value * math.Pow(float64(p)/float64(widest), s.Workload.Worth)})
			t.fewest = p
		}
	}
}
