package testnet

import (
	"fmt"
	"io"
)

// Report is what a run of faults found.
type Report struct {
	Seed      uint64  `json:"seed"`
	Kind      string  `json:"kind"`
	Isolation string  `json:"isolation"` // of tasks
	Nodes     int     `json:"nodes"`
	Faults    int     `json:"faults"`
	Elapsed   float64 `json:"elapsed_seconds"`
	Jobs      int     `json:"jobs"`
	Submitted int     `json:"submitted"` // tasks of acknowledged jobs that nobody cancelled
	Done      int     `json:"done"`
	Rerun     int     `json:"rerun"` // tasks that began more than once
	Lost      int     `json:"lost"`  // not recorded as done when all faults were over and the limit had passed
	Twice     int     `json:"recorded_twice"`
	Unfenced  int     `json:"unfenced_late_results"`
	Fenced    int     `json:"fenced_late_results"` // attempts that ran to their end and were not recorded
	Refused   int     `json:"submissions_not_acknowledged"`

	Cancellations

	// From a node's death until what ran there began again, where nothing else was done meanwhile to those who have to see
	// to it: the task's origin or owner, and the node that it was given to next. If that one died, from then on. And of
	// all, from the first death.
	Deaths       int `json:"deaths"`
	Orphans      int `json:"orphans"`
	OrphansClear int `json:"orphans_not_hit_again"`
	// whose death was noticed too late to matter: they are done, or lost
	NotAgain   int     `json:"orphans_not_begun_again"`
	P95        float64 `json:"rerun_p95_seconds"`
	Longest    float64 `json:"rerun_longest_seconds"`
	P95All     float64 `json:"rerun_all_p95_seconds"`
	LongestAll float64 `json:"rerun_all_longest_seconds"`

	Successions *Successions `json:"successions,omitempty"` // where nodes died for good one after the other

	Reruns []Rerun `json:"reruns,omitempty"` // the longest first

	Calls      int      `json:"acknowledged_calls"`
	Violations []string `json:"violations,omitempty"`
	// faults that could not be done or undone, questions that nobody answered
	Troubles []string `json:"troubles,omitempty"`
}

// Cancellations are what became of jobs that were cancelled.
type Cancellations struct {
	Cancelled int `json:"cancelled_jobs"`
	// attempts that began when the cancellation had been acknowledged
	AfterCancel int     `json:"begun_after_cancel"`
	LateCancel  float64 `json:"begun_after_cancel_seconds"` // the latest of them
}

// RerunBar is how soon what ran on a dead node has to run again, in seconds, for 95 of 100 tasks.
const RerunBar = 10.0

// Passed reports whether nothing was lost, recorded twice or said that was not so, and re-runs came in time.
func (r *Report) Passed() bool {
	return r.Lost == 0 && r.Twice == 0 && r.Unfenced == 0 && r.AfterCancel == 0 && len(r.Violations) == 0 &&
		len(r.Troubles) == 0 && r.P95 <= RerunBar
}

// Print prints the report for people.
func (r *Report) Print(w io.Writer) {
	mark := func(ok bool) string {
		if ok {
			return "pass"
		}
		return "MISS"
	}
	fmt.Fprintf(w, "%d nodes as %s, isolation of tasks %s, %d faults with %d deaths, %.0f s, seed %d\n", r.Nodes, r.Kind,
		r.Isolation, r.Faults, r.Deaths, r.Elapsed, r.Seed)
	fmt.Fprintf(w,
		"  %d tasks of %d jobs submitted, %d done, %d begun more than once; %d submissions were not acknowledged\n",
		r.Submitted, r.Jobs, r.Done, r.Rerun, r.Refused)
	r.Successions.print(w)
	fmt.Fprintf(w, "bar: lost %d, want 0, %s\n", r.Lost, mark(r.Lost == 0))
	fmt.Fprintf(w, "bar: recorded twice %d, want 0, %s\n", r.Twice, mark(r.Twice == 0))
	fmt.Fprintf(w, "bar: unfenced late results %d, want 0, %s (%d attempts ended late and were fenced)\n", r.Unfenced,
		mark(r.Unfenced == 0), r.Fenced)
	fmt.Fprintf(w,
		"bar: death of a node to its tasks running elsewhere, p95 %.1f s, want at most %.0f s, %s (longest %.1f s, "+
			"%d tasks)\n", r.P95, RerunBar, mark(r.P95 <= RerunBar), r.Longest, r.OrphansClear)
	fmt.Fprintf(w,
		"  from the last death of a node that had them, without %d tasks whose origin, owner or next node was dead, "+
			"paused or cut off meanwhile\n", r.Orphans-r.OrphansClear)
	fmt.Fprintf(w, "  with those, and from the first death on: p95 %.1f s, longest %.1f s, %d tasks\n", r.P95All,
		r.LongestAll, r.Orphans)
	if r.P95 > RerunBar {
		r.printSlowest(w)
	}
	fmt.Fprintf(w,
		"bar: attempts begun after their job's cancellation was acknowledged %d, want 0, %s (the latest %.1f s after; %d "+
			"jobs cancelled)\n", r.AfterCancel, mark(r.AfterCancel == 0), r.LateCancel, r.Cancelled)
	fmt.Fprintf(w, "bar: acknowledged calls that something later contradicts %d, want 0, %s (%d calls)\n",
		len(r.Violations), mark(len(r.Violations) == 0), r.Calls)
	for _, v := range r.Violations {
		fmt.Fprintf(w, "  violation: %s\n", v)
	}
	for _, v := range r.Troubles {
		fmt.Fprintf(w, "  trouble: %s\n", v)
	}
}

// mostSlow bounds the tasks whose stories are printed when the bar was missed.
const mostSlow = 3

func (r *Report) printSlowest(w io.Writer) {
	for i := range r.Reruns[:min(mostSlow, len(r.Reruns))] {
		a := &r.Reruns[i]
		fmt.Fprintf(w, "  %.1f s: job %s task %d of %s, which ran on %s when that died\n", a.Seconds, short(a.Job), a.Task,
			a.Origin, a.Died)
		for _, line := range a.Story {
			fmt.Fprintf(w, "    %s\n", line)
		}
	}
}
