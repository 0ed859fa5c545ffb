package checkpoint

import (
	"strings"
	"testing"

	"skep/grid"
)

const lostText = "inputs did not come: fetch 01 of \".skep-checkpoint/30/0/f\": nobody has it"

// A checkpoint whose files cannot be had any more is given to no further attempt, and why is told. A new one counts
// whatever its number.
func TestLostCheckpointIsGivenUp(t *testing.T) {
	w := newWorld(t, 0)
	w.keep(w.attempt(0, 1, workerByte), 30)
	b, c := w.attempt(0, 2, otherByte), w.attempt(0, 3, workerByte)
	w.want("files", len(w.s.Inputs(w.job.Spec, b)), 1)
	w.s.Failed(w.job.Spec, b, node(otherByte), "inputs did not come: fetch 01 of \"data\": nobody has it", nil, &w.fx)
	w.want("for another input", len(w.fx.Fetches), 0)
	w.s.Failed(w.job.Spec, b, node(otherByte), lostText, w.job.Members, &w.fx)
	w.want("it is looked for", w.fetched("nobody has it"), 1)
	w.want("files of the next", len(w.s.Inputs(w.job.Spec, c)), 0)
	v := w.s.View(w.job.Spec, b.Task)
	if v.Step != 0 || !strings.HasPrefix(v.Why, "30 was given up, no attempt can begin from it: nobody") {
		t.Errorf("%+v: want why it was given up", v)
	}
	if last := w.fx.Saves[len(w.fx.Saves)-1]; !last.Delete || w.s.total != 0 {
		t.Errorf("%+v, %d charged: want that its record is deleted", last, w.s.total)
	}
	w.keep(c, 5)
	if v := w.s.View(w.job.Spec, b.Task); v.Step != 5 || v.Why != "" {
		t.Errorf("%+v: want the new one", v)
	}
}

// No worker alone is believed that a checkpoint cannot be used that can be had: another one must say so too, or it must
// say so again and again.
func TestWorkersAreNotBelievedAlone(t *testing.T) {
	for _, tt := range []struct {
		from  string // a byte each
		given []int  // files that each next attempt gets
	}{{"\x02\x02\x02", []int{1, 1, 0}}, {"\x02\x04", []int{1, 0}}, {"\x02\x02\x04", []int{1, 1, 0}}} {
		w := newWorld(t, 0)
		w.keep(w.attempt(0, 1, workerByte), 30)
		w.want("the first", len(w.s.Inputs(w.job.Spec, w.attempt(0, 2, workerByte))), 1)
		for k := range tt.given {
			id := w.attempt(0, uint32(2+k), tt.from[k])
			w.s.Failed(w.job.Spec, id, node(tt.from[k]), lostText, nil, &w.fx)
			w.s.Failed(w.job.Spec, w.attempt(0, 1, workerByte), node(memberByte), lostText, nil, &w.fx) // an old one
			w.want("it is looked for once", w.fetched(""), map[int]int{0: 1}[k])
			next := grid.AttemptID{Task: id.Task, Attempt: grid.Attempt{Epoch: 1, N: uint32(3 + k)}}
			w.want("files of the next", len(w.s.Inputs(w.job.Spec, next)), tt.given[k])
		}
	}
}
