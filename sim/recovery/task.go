package recovery

import (
	"skep/balance/utility"
	"skep/grid"
)

// task is one of an experiment.
type task struct {
	length  float64 // seconds at performance 1
	value   float64 // of its best option
	options []option
	started float64 // −1 = not yet
}

// option is a cluster and a technique.
type option struct {
	cluster   int
	technique utility.Technique
	value     float64
	length    float64 // seconds of a run
	risk      float64 // probability that a run fails
	fails     bool
	at        float64 // if it fails: after which part of the run
}

// processors are those that it takes.
func (o *option) processors() int {
	if o.technique == utility.Replicate {
		return 2
	}
	return 1
}

// streams of an experiment's chance.
const (
	streamTasks = 1 + iota
	streamChoices
)

var techniques = [...]utility.Technique{utility.None, utility.Retry, utility.Replicate}

// draw draws the tasks of an experiment.
func (s *System) draw(tasks int, seed uint64) []task {
	r := grid.NewRand(seed, streamTasks)
	performance := make([]float64, len(s.Clusters))
	for k := range performance {
		performance[k] = 0.5 + r.Float64()
	}
	out := make([]task, tasks)
	for i := range out {
		t := &out[i]
		t.length, t.started = s.Longest*(1-r.Float64()), -1
		whole := t.length * (1 - r.Float64())
		var each [len(techniques)]float64
		for q := range each {
			each[q] = t.length * (1 - r.Float64())
		}
		for k := range s.Clusters {
			risk := s.Failing.draw(r)
			fails, at := r.Float64() < risk, r.Float64()
			for q, technique := range techniques {
				v := t.length * (1 - r.Float64())
				switch s.Values {
				case "technique":
					v = each[q]
				case "task":
					v = whole
				}
				t.value = max(t.value, v)
				t.options = append(t.options, option{cluster: k, technique: technique, value: v,
					length: t.length / performance[k], risk: risk, fails: fails, at: at})
			}
		}
	}
	return out
}

func (f *Failing) draw(r *grid.Rand) (x float64) {
	for x <= 0 || x >= 1 {
		x = f.Mean + f.Deviation*r.NormFloat64()
	}
	return x
}
