package coordinator

import (
	"testing"
	"time"

	"skep/balance"
	"skep/grid"
)

// Regression: the slot of a backup attempt that is dropped with its task's end is free for the next task. It was
// noticed only when something else of the job changed, and the job stood still.
func TestSlotOfABackupIsFreed(t *testing.T) {
	o := newOwner(t)
	spec := jobSpec(2)
	spec.Rules.MaxRunning = 1
	j := o.submit(grid.JobID{Origin: selfID, Nonce: [10]byte{1}}, spec)
	l := j.at(0).Live
	if l == nil || j.tasks.State(1) != grid.Pending || !j.awaitsSlot {
		t.Fatalf("tasks %v and %v: want one with a worker, and one that waits for its slot", j.tasks.State(0),
			j.tasks.State(1))
	}
	o.live.Release(l)
	o.live.Accept(l)
	o.setState(j, 0, grid.Placed, &o.fx)
	o.startBackup(o.now, l, balance.Choice{Act: balance.Place, Node: grid.NodeID{9}}, "", &o.fx)
	if a := j.AttemptsOf(0); a[0] != j.at(0).Attempt || a[1] != l.backup.attempt || a[0] == a[1] {
		t.Errorf("attempts %v are out: want the first one and its backup", a)
	}
	o.end(o.now, j, 0, &grid.Result{Cause: grid.Exited}, &o.fx)
	o.pass(time.Second)
	if j.tasks.State(1) == grid.Pending {
		t.Error("the second task waits for a slot, and nothing of the job has a worker")
	}
	if a := j.AttemptsOf(0); a != [2]grid.Attempt{} {
		t.Errorf("the task has ended, and attempts %v are out", a)
	}
}
