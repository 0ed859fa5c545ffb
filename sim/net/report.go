package net

import (
	"fmt"
	"math"
	"slices"

	"skep/grid"
)

// Report is the result of a scenario's runs. Estimates are means over replications, with the half-width of their 95 %
// confidence interval (Student's t), which a single replication does not have. Rates over time are from the end of the
// warm-up to the end of arrivals; times of tasks are of those submitted after the warm-up that exited with 0.
type Report struct {
	Scenario     string `json:"scenario"`
	Seed         uint64 `json:"seed"`
	Replications int    `json:"replications"` // with measurements
	Complete     bool   `json:"complete"`     // all of them ran to their ends
	// the number of tasks did not only grow, in at least half of the replications
	Stable  bool    `json:"stable"`
	Lambda  float64 `json:"lambda"` // λ*: all arrivals could grow by this factor
	Digest  string  `json:"digest"` // of all events and effects of every node; "off" where the scenario has none
	Nodes   int     `json:"nodes"`
	Virtual float64 `json:"virtual_seconds"` // of all replications together, as are the next
	Wall    float64 `json:"wall_seconds"`
	Steps   uint64  `json:"steps"`
	Tasks   int     `json:"tasks"`
	Ended   int     `json:"ended"`
	Failed  int     `json:"failed"` // of these, without exit 0
	// attempts beyond each task's first, also of tasks handed back after a long wait in a queue
	Again int `json:"again"`
	Lost  int `json:"lost"` // not ended though everything else is over: must be 0
	// not ended since the node that they were submitted to did not return
	Orphans  int `json:"orphans"`
	Rejected int `json:"rejected"` // submissions that their node refused
	// in each replication: jobs of traces that begin at or after the end of arrivals
	LeftOut    int       `json:"trace_jobs_left_out"`
	Failures   []Failure `json:"failures,omitempty"`
	Completion Estimate  `json:"completion"` // of all classes together
	Offences
	Makespan Estimate `json:"makespan"` // from the first of them to arrive to the last to end, seconds
	// share of tasks that ran on another node than their origin
	Moved Estimate `json:"moved"`
	Usage
	Classes []ClassReport `json:"classes"`
	Special
	Groups   []GroupReport  `json:"nodes_by_group"`
	Messages []KindReport   `json:"messages"`
	Searches SearchReport   `json:"searches"`
	View     []ViewReport   `json:"view"` // by distance
	Curves   []Distribution `json:"-"`    // completion times by class
}

// Offences are what hostile nodes did.
type Offences struct {
	Hostile uint64 `json:"hostile_messages,omitempty"` // messages of theirs, which are not in Messages
	CutOff  uint64 `json:"cut_off,omitempty"`          // times that a node blocked an offender
}

// Usage is how well the nodes were used.
type Usage struct {
	Utilisation Estimate `json:"utilisation"`
	Fairness    Estimate `json:"fairness"` // Jain's index of the nodes' utilisations, 1 = all equal
	Regret      Estimate `json:"regret"`   // core-seconds idle where a waiting task would have ended sooner, over those busy
}

// Failure counts the tasks without exit 0 of one cause.
type Failure struct {
	Cause string `json:"cause"`
	Tasks int    `json:"tasks"`
}

// ClassReport is about one class: seconds from submission to the recorded end, and the slowdown: that over the run
// time.
type ClassReport struct {
	Class      string   `json:"class"`
	Tasks      int      `json:"tasks"`
	Completion Estimate `json:"completion"`
	P50        Estimate `json:"p50"`
	P95        Estimate `json:"p95"`
	P99        Estimate `json:"p99"`
	Slowdown   Estimate `json:"slowdown"`
	Moved      Estimate `json:"moved"`
}

// KindReport is about one kind of message.
type KindReport struct {
	Kind         string   `json:"kind"`
	PerTask      Estimate `json:"per_task"`
	PerNode      Estimate `json:"per_node_second"`
	BytesPerTask Estimate `json:"bytes_per_task"`
	BytesPerNode Estimate `json:"bytes_per_node_second"`
}

// SearchReport is about the walks that search for a node.
type SearchReport struct {
	Walks   int      `json:"walks"`
	Success Estimate `json:"success"` // share of walks answered by a hit
	Hops    Estimate `json:"hops"`    // of those hits
}

// ViewReport is about view entries that travelled a number of hops: their age in seconds, and their error, 0 to 1.
type ViewReport struct {
	Hops    int      `json:"hops"`
	Entries int      `json:"entries"`
	Age     Estimate `json:"age"`
	Error   Estimate `json:"error"`
}

// Distribution is a class's completion times in order, in seconds.
type Distribution struct {
	Class string
	Times []float64
}

// report returns the report of the replications; one that was stopped before it measured is nil.
func (s *Scenario) report(samples []*sample) *Report {
	r := &Report{Scenario: s.Name, Seed: s.Seed, Nodes: s.nodes(), LeftOut: s.leftOut(), Complete: true}
	_, r.Lambda = s.Check()
	var all []*sample
	grown := 0
	hash := uint64(14695981039346656037)
	for _, m := range samples {
		if m == nil || m.classes == nil {
			r.Complete = false
			continue
		}
		all = append(all, m)
		hash = (hash ^ m.report.Digest) * 1099511628211
		r.Complete = r.Complete && m.complete
		if !m.stable {
			grown++
		}
		r.Virtual += m.report.Virtual.Seconds()
		r.Wall += m.wall.Seconds()
		r.Steps += m.report.Steps
		r.Tasks += m.report.Tasks
		r.Ended += m.report.Ended
		r.Failed += m.report.Failed
		r.Again += m.report.Again
		r.Hostile += m.report.Traffic.Hostile
		r.CutOff += m.report.Traffic.CutOff
		r.Rejected += m.report.Rejected
		r.Lost += m.lost
		r.Orphans += m.orphans
		for _, cause := range sortedKeys(m.failures) {
			r.addFailure(cause, m.failures[cause])
		}
	}
	r.Stable = 2*grown <= len(all)
	r.Replications, r.Digest = len(all), fmt.Sprintf("%016x", hash)
	if s.NoDigest {
		r.Digest = "off"
	}
	r.Completion = over(all, func(m *sample) float64 { return m.mean(s) })
	r.Makespan = over(all, func(m *sample) float64 { return m.bag.makespan() })
	r.Moved = over(all, func(m *sample) float64 { return float64(m.moved) / float64(m.counted) })
	r.Utilisation = over(all, func(m *sample) float64 { return m.utilisation })
	r.Fairness = over(all, func(m *sample) float64 { return m.fairness })
	r.Regret = over(all, func(m *sample) float64 { return m.regret / m.regretOver })
	for i := range s.Classes {
		r.class(s.Classes[i].Name, all)
	}
	r.gangReports(s, all)
	r.worth(s, all)
	r.groups(s, all)
	r.messages(all)
	r.searches(all)
	r.views(all)
	return r
}

func (r *Report) addFailure(cause string, tasks int) {
	for i := range r.Failures {
		if r.Failures[i].Cause == cause {
			r.Failures[i].Tasks += tasks
			return
		}
	}
	r.Failures = append(r.Failures, Failure{cause, tasks})
}

func (r *Report) class(name string, all []*sample) {
	c := ClassReport{Class: name}
	d := Distribution{Class: name}
	for _, m := range all {
		t := m.classes[name]
		slices.Sort(t.completion)
		c.Tasks += len(t.completion)
		d.Times = append(d.Times, t.completion...)
	}
	slices.Sort(d.Times)
	quantile := func(q float64) Estimate {
		return over(all, func(m *sample) float64 {
			t := m.classes[name].completion
			if len(t) == 0 {
				return math.NaN()
			}
			return t[int(math.Ceil(q*float64(len(t))))-1]
		})
	}
	c.P50, c.P95, c.P99 = quantile(0.50), quantile(0.95), quantile(0.99)
	c.Completion = over(all, func(m *sample) float64 {
		sum := 0.0
		for _, x := range m.classes[name].completion {
			sum += x
		}
		return sum / float64(len(m.classes[name].completion))
	})
	c.Slowdown = over(all, func(m *sample) float64 {
		return m.classes[name].slowdown / float64(len(m.classes[name].completion))
	})
	c.Moved = over(all, func(m *sample) float64 {
		return float64(m.classes[name].moved) / float64(len(m.classes[name].completion))
	})
	r.Classes = append(r.Classes, c)
	r.Curves = append(r.Curves, d)
}

func (r *Report) messages(all []*sample) {
	for k := range grid.Kinds {
		sent := func(m *sample) float64 { return float64(m.traffic.Sent[k]) }
		bytes := func(m *sample) float64 { return float64(m.traffic.Bytes[k]) }
		tasks := func(m *sample) float64 { return float64(m.arrived) }
		nodes := func(m *sample) float64 { return float64(r.Nodes) * max(0, m.to-m.from).Seconds() }
		per := func(f, by func(m *sample) float64) Estimate {
			return over(all, func(m *sample) float64 { return f(m) / by(m) })
		}
		if over(all, sent).Mean == 0 {
			continue
		}
		r.Messages = append(r.Messages, KindReport{Kind: grid.Kind(k).String(), PerTask: per(sent, tasks),
			PerNode:      per(sent, nodes),
			BytesPerTask: per(bytes, tasks), BytesPerNode: per(bytes, nodes)})
	}
}

func (r *Report) searches(all []*sample) {
	for _, m := range all {
		r.Searches.Walks += int(m.traffic.Walks)
	}
	r.Searches.Success = over(all, func(m *sample) float64 {
		return min(1,
			float64(m.traffic.Found)/float64(m.traffic.Walks))
	})
	r.Searches.Hops = over(all, func(m *sample) float64 { return float64(m.traffic.FoundHops) / float64(m.traffic.Found) })
}
