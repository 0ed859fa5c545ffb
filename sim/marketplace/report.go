package marketplace

import "skep/sim/queueing"

// Report is what a system did under each protocol.
type Report struct {
	System  string   `json:"system"`
	Rate    float64  `json:"rate"` // tasks that arrive in a unit of time
	Results []Result `json:"results"`
}

// Result is what a system did under one protocol: means over the replications with 95 % intervals. Times are in units,
// of tasks that ended.
type Result struct {
	Protocol string `json:"protocol"`
	Runs     int    `json:"runs"`

	CT          queueing.Estimate `json:"CT"`  // from creation until the client has the result
	WCT         queueing.Estimate `json:"WCT"` // the same times the weight
	WCR         queueing.Estimate `json:"WCR"` // weights of tasks on time over those of all
	Utility     queueing.Estimate `json:"utility"`
	Slowdown    queueing.Estimate `json:"slowdown"`
	Finished    queueing.Estimate `json:"finished"`    // part of the measured tasks
	Moves       queueing.Estimate `json:"moves"`       // a task
	Suspensions queueing.Estimate `json:"suspensions"` // a task
	Messages    queueing.Estimate `json:"messages"`    // a task
	Background  queueing.Estimate `json:"background"`  // part of the capacity

	// Over the first protocol's value in the same replication: the value by which protocols are judged in such a
	// system, which is WCR with hard deadlines, utility with soft ones, else WCT.
	Relative queueing.Estimate `json:"relative"`

	Samples []Sample `json:"-"` // of each replication
}

// Sample is one run, in the words of [Result].
type Sample struct {
	CT, WCT, WCR, Utility, Slowdown, Finished, Moves, Suspensions, Messages, Background float64

	judged float64
}

func (e *engine) sample() *Sample {
	b := &e.books
	own := 0.0
	for j := range e.servers {
		own += e.servers[j].own * e.servers[j].speed
	}
	back, created := float64(b.back), float64(b.created)
	o := &Sample{CT: b.times / back, WCT: b.weighted / back, WCR: b.onTime / b.weights, Utility: b.value / created,
		Slowdown: b.slowdown / back, Finished: back / created, Moves: float64(b.moves) / back,
		Suspensions: float64(b.stops) / back, Messages: float64(b.messages) / float64(e.tasks.made),
		Background: own / (e.end * e.sys.Capacity())}
	switch {
	case e.sys.Tasks.Factor > 0:
		o.judged = o.WCR
	case e.sys.Tasks.Slow1 > 0:
		o.judged = o.Utility
	default:
		o.judged = o.WCT
	}
	return o
}

func summarise(name string, runs []*Sample) Result {
	of := func(value func(*Sample) float64) queueing.Estimate {
		x := make([]float64, len(runs))
		for i, r := range runs {
			x[i] = value(r)
		}
		return queueing.EstimateOf(x)
	}
	r := Result{Protocol: name, Runs: len(runs),
		CT:          of(func(o *Sample) float64 { return o.CT }),
		WCT:         of(func(o *Sample) float64 { return o.WCT }),
		WCR:         of(func(o *Sample) float64 { return o.WCR }),
		Utility:     of(func(o *Sample) float64 { return o.Utility }),
		Slowdown:    of(func(o *Sample) float64 { return o.Slowdown }),
		Finished:    of(func(o *Sample) float64 { return o.Finished }),
		Moves:       of(func(o *Sample) float64 { return o.Moves }),
		Suspensions: of(func(o *Sample) float64 { return o.Suspensions }),
		Messages:    of(func(o *Sample) float64 { return o.Messages }),
		Background:  of(func(o *Sample) float64 { return o.Background })}
	for _, x := range runs {
		r.Samples = append(r.Samples, *x)
	}
	return r
}

// compare sets what the protocols are relative to the first one, replication by replication.
func (r *Report) compare(runs []*Sample, replications int) {
	i := 0
	for k := 0; k < len(runs); k += replications {
		var x []float64
		done := false
		for n := range replications {
			done = done || runs[k+n] != nil
			if a, b := runs[n], runs[k+n]; a != nil && b != nil {
				x = append(x, b.judged/a.judged)
			}
		}
		if done {
			r.Results[i].Relative = queueing.EstimateOf(x)
			i++
		}
	}
}
