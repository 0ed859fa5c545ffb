package net

import (
	"math"
	"time"

	"skep/grid"
	"skep/sim"
)

// GangReport is about the gangs of one class that were submitted after the warm-up. Times are of those all of whose
// ranks exited with 0, in seconds.
type GangReport struct {
	Class      string   `json:"class"`
	Gangs      int      `json:"gangs"` // that ended so
	Other      int      `json:"other"` // that ended otherwise, or have not ended
	Turnaround Estimate `json:"turnaround"`
	Wait       Estimate `json:"wait"`      // until all ranks ran for the first time
	Iteration  Estimate `json:"iteration"` // of the attempt that ended
	Predicted  Estimate `json:"predicted"` // the same by the search for its nodes
	Error      Estimate `json:"error_pct"` // by how many percent that was wrong
	Nodes      Estimate `json:"nodes"`     // that it ran on
	Restarts   int      `json:"restarts"`  // from the first iteration, in all gangs together
}

// gangTimes are those of the gangs of a class in one replication.
type gangTimes struct {
	ended, other, restarts int
	turnaround, wait       float64 // sums
	iteration, nodes       float64
	predicted, wrong       float64
	foretold               int // gangs whose iterations were predicted
}

// countGang counts a gang, after its ranks were counted as tasks.
func (m *sample) countGang(w *sim.World, n int, sub *sim.Submission) {
	if !sub.Spec.IsGang() || sub.At < m.from {
		return
	}
	t := &m.classes[sub.Spec.Class].gang
	runs, last := w.Gangs(n), time.Duration(0)
	good := len(runs) > 0 && runs[len(runs)-1].Ended > 0
	for k := range sub.Spec.Count {
		o := w.Outcome(n, int(k))
		good = good && o.State == grid.Ended && o.Result != nil && o.Result.Exit == 0
		last = max(last, o.Ended)
	}
	t.restarts += max(len(runs)-1, 0)
	if !good {
		t.other++
		return
	}
	r := runs[len(runs)-1]
	t.ended++
	t.turnaround += (last - sub.At).Seconds()
	t.wait += (runs[0].Began - sub.At).Seconds()
	t.iteration += r.Iteration
	t.nodes += float64(r.Nodes)
	if r.Predicted > 0 {
		t.foretold++
		t.predicted += r.Predicted
		t.wrong += 100 * math.Abs(r.Predicted-r.Iteration) / r.Iteration
	}
}

// gangReports reports the classes of gangs.
func (r *Report) gangReports(s *Scenario, all []*sample) {
	gangs := s.gangs()
	for k := range s.Classes {
		class := s.Classes[k].Name
		if gangs[class] == nil {
			continue
		}
		g := GangReport{Class: class}
		for _, m := range all {
			t := &m.classes[class].gang
			g.Gangs, g.Other, g.Restarts = g.Gangs+t.ended, g.Other+t.other, g.Restarts+t.restarts
		}
		mean := func(of func(t *gangTimes) (sum float64, n int)) Estimate {
			return over(all, func(m *sample) float64 {
				sum, n := of(&m.classes[class].gang)
				return sum / float64(n)
			})
		}
		g.Turnaround = mean(func(t *gangTimes) (float64, int) { return t.turnaround, t.ended })
		g.Wait = mean(func(t *gangTimes) (float64, int) { return t.wait, t.ended })
		g.Iteration = mean(func(t *gangTimes) (float64, int) { return t.iteration, t.ended })
		g.Nodes = mean(func(t *gangTimes) (float64, int) { return t.nodes, t.ended })
		g.Predicted = mean(func(t *gangTimes) (float64, int) { return t.predicted, t.foretold })
		g.Error = mean(func(t *gangTimes) (float64, int) { return t.wrong, t.foretold })
		r.Gangs = append(r.Gangs, g)
	}
}

// iteration is the mean time of an iteration of all gangs of a replication, NaN if one has not ended well: a strategy
// that fails them is not the better for it.
func (m *sample) iteration() float64 {
	sum, n := 0.0, 0
	for _, class := range sortedKeys(m.classes) {
		t := &m.classes[class].gang
		if t.other > 0 {
			return math.NaN()
		}
		sum, n = sum+t.iteration, n+t.ended
	}
	return sum / float64(n)
}
