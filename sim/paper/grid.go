package paper

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"skep/sim/brokers"
	"skep/sim/queueing"
)

// warmup is how many jobs come before those that are measured, for each of them.
const warmup = 0.2

// each is a run for every rate: of e3 at 0.025 jobs a second the scenario is e3@0.025.
func (x run) each(rates string) (out []run) {
	if rates == "" {
		return []run{x}
	}
	for _, rate := range strings.Fields(rates) {
		y := x
		y.scenario += "@" + rate
		out = append(out, y)
	}
	return out
}

// jobs is how many are simulated in a run.
func jobs(x run, l length) float64 {
	return (1 + warmup) * l.time * float64(l.replications*len(x.policies))
}

// grid runs a grid of clusters. The time of its lengths is the number of jobs that are measured.
func (w *work) grid(ctx context.Context, x run, l length) (out []ran, err error) {
	name, text, _ := strings.Cut(x.scenario, "@")
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("rate %q: want jobs a second", text)
	}
	size := jobs(x, l)
	o := brokers.Options{Policies: x.policies, Rate: rate, Warmup: int(warmup * l.time), Jobs: int(l.time),
		Replications: l.replications, Seed: w.options.Seed}
	o.Progress = w.progress(size)
	results, err := brokers.Simulate(ctx, w.study.grids[name], o)
	w.done += size
	for _, r := range results {
		out = append(out, sumUp(w.study.grids[name], rate, &r))
	}
	return out, err
}

// at is the results of a curve at a rate.
func (w *work) at(c *curve, rate float64) (out []queueing.Result) {
	for _, policy := range c.policies {
		r := w.results[key{c.scenario + "@" + strconv.FormatFloat(rate, 'g', -1, 64), policy}]
		if r == nil {
			r = &ran{Result: queueing.Result{Policy: policy}}
		}
		out = append(out, r.Result)
	}
	return out
}

// sumUp puts a policy's runs together. The rate at which a grid is full is that at which its busiest resource is,
// if each gets the same share of all jobs as now:
//
//	rate / max_j load_j
//
// A grid whose busiest resource was given more than a second of work for each second fills up, and so does one that is
// known before to have too little ([brokers.System.Limit]).
func sumUp(s *brokers.System, rate float64, from *brokers.Result) ran {
	r := ran{Result: queueing.Result{Policy: from.Policy, Decides: "brokers", Replications: len(from.Runs)}}
	n := float64(len(from.Runs))
	most, little, busiest := 0.0, 0.0, 0
	var messages float64
	for j := range from.Runs[0].Load {
		if x, _ := mean(from.Runs, func(x *brokers.Run) float64 { return x.Load[j] }); x > most {
			most, busiest = x, j
		}
	}
	full := most >= 1 || rate >= s.Limit(from.Policy)
	for k := range from.Runs {
		x := &from.Runs[k]
		r.Runs = append(r.Runs, queueing.Replication{Q: x.Q, W: x.W, ByClass: x.ByClass, Remote: x.Messages, All: x.Messages,
			Grows: full})
		little += (x.Q - x.Arrived*x.All) / x.Q / n
		messages += x.Messages / n
	}
	r.Stable = !full
	r.Little, r.LittleHolds = queueing.Number(little), math.Abs(little) < 0.01
	r.Messages = queueing.Messages{Remote: queueing.Number(messages), All: queueing.Number(messages)}
	r.W = estimate(mean(from.Runs, func(x *brokers.Run) float64 { return x.W }))
	r.Q = estimate(mean(from.Runs, func(x *brokers.Run) float64 { return x.Q }))
	for i, c := range s.Classes {
		e := estimate(mean(from.Runs, func(x *brokers.Run) float64 { return x.ByClass[i] }))
		r.ByClass = append(r.ByClass, queueing.ClassEstimate{Class: c.Name, Estimate: e})
	}
	fullAt := func(x *brokers.Run) float64 { return x.Arrived / x.Load[busiest] }
	for k := range from.Runs {
		r.limits = append(r.limits, fullAt(&from.Runs[k]))
	}
	at, half := mean(from.Runs, fullAt)
	r.limit = measured{mean: at, half: half}
	return r
}

func estimate(mean, half float64) queueing.Estimate {
	return queueing.Estimate{Mean: queueing.Number(mean), Half: queueing.Number(half)}
}

// mean is that of the runs with half of its 95 % interval.
func mean(runs []brokers.Run, of func(*brokers.Run) float64) (mean, half float64) {
	n := float64(len(runs))
	for k := range runs {
		mean += of(&runs[k]) / n
	}
	square := 0.0
	for k := range runs {
		d := of(&runs[k]) - mean
		square += d * d
	}
	return mean, queueing.Student(n-1) * math.Sqrt(square/(n-1)/n)
}
