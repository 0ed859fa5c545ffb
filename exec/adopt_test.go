package exec

import (
	"testing"

	"skep/grid"
)

// Work that runs from before a restart has its slot, also where the node has less than it takes; what it frees in the
// end other work can have.
func TestAdopt(t *testing.T) {
	e := New(grid.Resources{CPU: 2 * grid.CPU, Memory: grid.GiB})
	for i, need := range []grid.Resources{{CPU: grid.CPU}, {CPU: 3 * grid.CPU, Memory: 2 * grid.GiB}} {
		spec := &grid.JobSpec{Command: []string{"x"}, Count: 1, Needs: grid.Needs{Resources: need}}
		w := e.AcceptFrom(Owner{}, 1, adopted(i), &grid.Offer{Spec: spec, Class: "a"}, true)
		e.Adopt(1, w)
		if w.State != grid.WorkRunning {
			t.Errorf("work %d is %v", i, w.State)
		}
	}
	if free := e.Free(); free.CPU != 0 || free.Memory != 0 {
		t.Errorf("free %v: want nothing", free)
	}
	for i := range 2 {
		e.Finish(adopted(i), &grid.Result{})
	}
	if free := e.Free(); free != e.Capacity() || free.CPU != 4*grid.CPU {
		t.Errorf("free %v of %v: want all that was taken", free, e.Capacity())
	}
}

func adopted(i int) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Nonce: [10]byte{byte(i)}}}}
}
