package node

import (
	"testing"

	"skep/grid"
)

// A cancelled job without attempts is packed both by its end and by its cancellation; it counts once.
func TestCancelledJobCountsOnce(t *testing.T) {
	r := newRig(t, nil)
	r.submit(jobID(1), spec(nil))
	r.step(grid.Event{Kind: grid.EvCancel, Caller: 5, Job: jobID(1)})
	r.want(jobID(1), grid.Ended)
	if jobs := r.n.Stats(r.now).Jobs; jobs != 1 || r.n.Gauges().Packed != 1 || r.n.Gauges().Open != 0 {
		t.Errorf("%d jobs, %d packed, %d open; want 1, 1, 0", jobs, r.n.Gauges().Packed, r.n.Gauges().Open)
	}
}

// Reading a finished job leaves it packed: reads are no steps, and not recorded.
func TestReadsLeaveJobsPacked(t *testing.T) {
	r := newRig(t, nil)
	n := r.n
	r.submit(jobID(1), spec(nil))
	r.step(grid.Event{Kind: grid.EvCancel, Caller: 5, Job: jobID(1)})
	for name, read := range map[string]func(){
		"stuck": func() { n.AwaitsMajority(r.now, jobID(1)) },
		"acts":  func() { n.MayAct(r.now, jobID(1)) },
		"job":   func() { n.Job(jobID(1)) },
		"tasks": func() { n.Tasks(jobID(1), nil) },
	} {
		if read(); n.Gauges().Packed != 1 || n.Gauges().Open != 0 {
			t.Fatalf("%s: %d packed, %d open; want 1, 0", name, n.Gauges().Packed, n.Gauges().Open)
		}
	}
}
