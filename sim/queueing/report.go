package queueing

import (
	"encoding/json"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Report is what a system did under each policy.
type Report struct {
	System  string   `json:"system"`
	Lambda  Number   `json:"lambda"` // of System.Lambda
	Results []Result `json:"results"`
}

// Number is a float that may be none: null in JSON where it is not finite.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Estimate is a mean over replications and the half-width of its 95 % confidence interval, by Student's t.
// Half is NaN, null in JSON, with one replication.
type Estimate struct {
	Mean Number `json:"mean"`
	Half Number `json:"half"`
}

// ClassEstimate is an estimate for one class.
type ClassEstimate struct {
	Class string `json:"class"`
	Estimate
}

// Messages are the mean numbers of messages for a task, a poll and an answer for each machine asked: of
// other machines than the decider, and of all.
type Messages struct {
	Remote Number `json:"remote"`
	All    Number `json:"all"`
}

// Result is what a system did under one policy.
type Result struct {
	Policy  string `json:"policy"`
	Decides string `json:"decides"` // mapper, machines, or scheduler where machines take

	// Stable is false where the system filled up in most replications, or has to, by its Limit. What was measured then
	// depends on the length of the run alone: JSON leaves it out.
	Stable bool   `json:"stable"`
	Limit  Number `json:"limit"` // of System.Limit

	Q        Estimate        `json:"Q"`   // tasks in the system, by their integral over time
	W        Estimate        `json:"W"`   // time from arrival to completion, by the tasks completed
	ByClass  []ClassEstimate `json:"W_i"` // the same of each class
	Messages Messages        `json:"messages_per_task"`
	// share of tasks for which a guided policy left the soonest machine out
	Guarded *Estimate `json:"guarded,omitempty"`
	// share of tasks placed elsewhere than where they arrived; none where a mapper decides
	Moved Estimate `json:"moved"`

	// Little is (Q − lambda·W)/Q over all replications, with lambda the arrival rate as configured [2]. It
	// goes to 0 with the number of tasks; LittleHolds tells whether it is below 1 %.
	Little      Number `json:"little"`
	LittleHolds bool   `json:"little_holds"`

	Tasks          int64  `json:"tasks"`            // completed and counted, over all replications
	TasksPerSecond Number `json:"tasks_per_second"` // simulated, for a second of one core

	Replications int           `json:"replications"` // fewer than asked for where a run was interrupted
	Runs         []Replication `json:"-"`            // by replication
}

// Replication is what came out of one run.
type Replication struct {
	Q, W    float64
	ByClass []float64 // of W; NaN without tasks of the class
	Remote  float64
	All     float64
	Moved   float64 // NaN where no machine decides
	Guarded float64 // NaN where nothing is left out
	Grows   bool
}

// MarshalJSON leaves out the numbers of a system that filled up.
func (r Result) MarshalJSON() ([]byte, error) {
	if !r.Stable {
		return json.Marshal(struct {
			Policy  string `json:"policy"`
			Decides string `json:"decides"`
			Stable  bool   `json:"stable"`
			Limit   Number `json:"limit"`
			Tasks   int64  `json:"tasks"`
			Runs    int    `json:"replications"`
		}{r.Policy, r.Decides, false, r.Limit, r.Tasks, r.Replications})
	}
	type plain Result
	return json.Marshal(plain(r))
}

// result sums up the replications of a policy.
func (s *System) result(policy string, o *Options, runs []*outcome) Result {
	r := Result{Policy: policy, Decides: "mapper", Replications: len(runs)}
	switch {
	case IsPull(policy):
		r.Decides = "scheduler"
	case s.scattered(policy):
		r.Decides = "machines"
	}
	var area, expected, time, seconds float64
	var arrived, all, remote int64
	grow := 0
	for _, b := range runs {
		x := Replication{Q: b.mean(), W: b.w(), Grows: b.grows(),
			Remote: float64(b.remote) / float64(b.arrived), All: float64(b.all) / float64(b.arrived), Moved: math.NaN(),
			Guarded: b.guarded / float64(b.arrived)}
		if r.Decides == "machines" {
			x.Moved = float64(b.moved) / float64(b.arrived)
		}
		for i := range b.count {
			x.ByClass = append(x.ByClass, b.time[i]/float64(b.count[i]))
		}
		r.Runs = append(r.Runs, x)
		count, t := b.completed()
		r.Tasks += count
		time += t
		area += b.mean() * (o.Time - o.Warmup)
		expected += b.expected
		arrived, all, remote = arrived+b.arrived, all+b.all, remote+b.remote
		seconds += b.took.Seconds()
		if x.Grows {
			grow++
		}
	}
	limit := s.Limit(policy, o)
	r.Limit, r.Stable = Number(limit), stable(limit) && 2*grow <= len(runs)
	r.Q = r.estimate(func(x *Replication) float64 { return x.Q })
	r.W = r.estimate(func(x *Replication) float64 { return x.W })
	if x := r.estimate(func(x *Replication) float64 { return x.Guarded }); x.Mean == x.Mean {
		r.Guarded = &x
	}
	r.Moved = r.estimate(func(x *Replication) float64 { return x.Moved })
	for i, class := range s.Classes {
		r.ByClass = append(r.ByClass, ClassEstimate{class, r.estimate(func(x *Replication) float64 { return x.ByClass[i] })})
	}
	r.Messages = Messages{Number(float64(remote) / float64(arrived)), Number(float64(all) / float64(arrived))}
	little := (area - expected*time/float64(r.Tasks)) / area
	r.Little, r.LittleHolds = Number(little), math.Abs(little) < 0.01
	r.TasksPerSecond = Number(float64(arrived) / seconds)
	return r
}

// estimate is over the replications that have a number.
func (r *Result) estimate(of func(*Replication) float64) Estimate {
	var values []float64
	for k := range r.Runs {
		if x := of(&r.Runs[k]); !math.IsNaN(x) {
			values = append(values, x)
		}
	}
	return EstimateOf(values)
}

// EstimateOf is the estimate over replications with these values; the mean of none is NaN, too.
func EstimateOf(values []float64) Estimate {
	n, sum, square := float64(len(values)), 0.0, 0.0
	for _, x := range values {
		sum += x
	}
	mean := sum / n
	for _, x := range values {
		square += (x - mean) * (x - mean)
	}
	return Estimate{Number(mean), Number(Student(n-1) * math.Sqrt(square/(n-1)/n))}
}

// Student is the 97.5 % point of Student's t; NaN below one degree of freedom.
func Student(freedom float64) float64 {
	if freedom < 1 {
		return math.NaN()
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(0.975)
}
