package oracle

import (
	"math"
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// equal is three nodes that run each task in a second, half a second apart; the third may lack something, or be
// the only one that lacks nothing.
type equal struct{ lacks, only bool }

func (e equal) RunTime(_, node int32) time.Duration {
	if e.lacks && node == 2 || e.only && node != 2 {
		return 0
	}
	return time.Second
}

func (equal) Transfer(_, _ int32, size grid.Bytes) time.Duration {
	return time.Second/2 + time.Duration(size)
}

// meet connects all three.
func meet(h *Hindsight) {
	h.Met(0, 0, 1)
	h.Met(0, 1, 2)
}

// A task waits from 0 to 10 behind another on node 1, and ends at 11. On node 2, idle all the time, it would have been
// done 1.5 s after it set out: to wait is regretted until 9.5. Not while node 2 is closed, cut off or paused, and not
// where it cannot run it.
func TestRegretIsIdleTimeThatWouldHaveEndedATaskSooner(t *testing.T) {
	const s = grid.Time(time.Second)
	for name, c := range map[string]struct {
		truth equal
		away  func(h *Hindsight)
		want  float64
	}{
		"idle":    {equal{}, func(*Hindsight) {}, 9.5},
		"lacking": {equal{lacks: true}, func(*Hindsight) {}, 0},
		"closed":  {equal{}, func(h *Hindsight) { h.Closed(2*s, 2); h.Opened(5*s, 2) }, 6.5},
		"cut off": {equal{}, func(h *Hindsight) { h.CutOff(2*s, 2); h.Healed(5 * s) }, 6.5},
		"paused":  {equal{}, func(h *Hindsight) { h.Paused(2*s, 2, 3*time.Second); h.Slowed(5*s, 0, 1) }, 6.5},
		// the owner keeps work from node 2, or did and has heard better of it; its clock may be a tenth slow
		"failing":    {equal{}, func(h *Hindsight) { h.note(2*s, classKept, 2, 1, 3) }, 6.2},
		"straggling": {equal{}, func(h *Hindsight) { h.note(2*s, nodeKept, 2, 0, 3) }, 6.2},
		"delivered": {equal{}, func(h *Hindsight) {
			h.note(2*s, classKept, 2, 1, 30)
			h.note(5*s, classKept, 2, 1, 0)
		}, 6.5},
		"the only one": {equal{only: true}, func(h *Hindsight) { h.note(2*s, classKept, 2, 1, 3) }, 9.5},
		"slow":         {equal{}, func(h *Hindsight) { h.Slowed(0, 2, 4) }, 6.5},
		"unknown": {equal{}, func(h *Hindsight) {
			h.past = slices.DeleteFunc(h.past, func(m moment) bool { return m.kind == nodesMet })
		}, 0},
	} {
		x := &scene{w: &world{}, spec: &grid.JobSpec{Class: "a", Command: []string{"x"}, Count: 2,
			Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}}}
		x.Books = New(x.w, 3, []Submission{{Origin: 0, Spec: x.spec}})
		x.Watch(c.truth)
		for i := range int32(3) {
			x.Started(i, silent{}, grid.Resources{CPU: grid.CPU})
		}
		h := x.Hindsight()
		meet(h)
		h.note(0, taskBegan, 0, 0, 0) // the origin is busy
		c.away(h)
		h.note(0, taskArrived, 0, 1, 0)
		h.note(10*s, taskEnded, 0, 0, 0)
		h.note(10*s, taskBegan, 1, 1, 0)
		h.note(11*s, taskEnded, 1, 1, 0)
		h.note(0, nodeClosed, 1, 0, 0)
		h.note(10*s, nodeOpened, 1, 0, 0)
		for k := range x.tasks {
			x.tasks[k].Ended, x.tasks[k].Result = 12*s, (&grid.Result{Cause: grid.Exited}).Compact()
		}
		v := h.Judge(0)
		if math.Abs(v.Regret-c.want) > 0.01 || v.Busy != 11 {
			t.Errorf("%s: regret %.3f of %.3f core-seconds, want %.3f of 11", name, v.Regret, v.Busy, c.want)
		}
	}
}

// A place is not idle while the task that will begin there is on its way: task 1 sets out at 1.5 for node 2, with a
// second of inputs, and begins at 3. Task 2 would gain nothing from that place before task 1 has ended, at 4.
func TestThePlaceOfAMovingTaskIsKept(t *testing.T) {
	const s = grid.Time(time.Second)
	x := &scene{w: &world{}, spec: &grid.JobSpec{Class: "a", Command: []string{"x"}, Count: 3,
		Inputs: []grid.File{{Path: "in", Blob: grid.BlobID{1}, Size: grid.Bytes(time.Second)}},
		Needs:  grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}}}
	x.Books = New(x.w, 3, []Submission{{Origin: 0, Spec: x.spec}})
	x.Watch(equal{})
	for i := range int32(3) {
		x.Started(i, silent{}, grid.Resources{CPU: grid.CPU})
	}
	h := x.Hindsight()
	meet(h)
	h.Closed(0, 1)
	h.note(0, taskBegan, 0, 0, 0)
	h.note(0, taskArrived, 0, 1, 0)
	h.note(0, taskArrived, 0, 2, 0)
	h.note(3*s, taskBegan, 2, 1, 0)
	h.note(4*s, taskEnded, 2, 1, 0)
	h.note(10*s, taskEnded, 0, 0, 0)
	h.note(10*s, taskBegan, 0, 2, 0)
	h.note(11*s, taskEnded, 0, 2, 0)
	for k := range x.tasks {
		x.tasks[k].Ended, x.tasks[k].Result = 12*s, (&grid.Result{Cause: grid.Exited}).Compact()
	}
	// task 1 should have gone at once: 1.5; task 2 at 4, and until 8.5 it would have been done sooner: 4.5
	if v := h.Judge(0); math.Abs(v.Regret-6) > 0.01 {
		t.Errorf("regret %.3f core-seconds, want 6", v.Regret)
	}
}

// reserve has node 2 keep its core for a gang for a time.
func reserve(h *Hindsight, from, to grid.Time) {
	h.note(from, nodeReserved, 2, 0, 1)
	h.note(to, nodeReserved, 2, 0, 0)
}

// The longest time without a break in which a node has an idle place is what counts, of whatever tasks: node 2 is idle
// from 2 to 4 beside task 1, which goes there, and from 5 to 9 beside tasks 2 and 3 one after the other, until it is
// closed for a second. Tasks that wait for others, or were asked to run again, need no place.
func TestIdleIsTheLongestTimeWithoutABreak(t *testing.T) {
	const s = grid.Time(time.Second)
	for name, c := range map[string]struct {
		change func(x *scene)
		want   Idle
	}{
		"as it is":  {func(*scene) {}, Idle{2, 2, 5 * s, 9 * s}},
		"ordered":   {func(x *scene) { x.spec.After.Jobs = make([]grid.Dependency, 1) }, Idle{}},
		"throttled": {func(x *scene) { x.spec.Rules.MaxRunning = 1 }, Idle{}},
		"gang":      {func(x *scene) { x.spec.Gang.Ranks = 1 }, Idle{}},
		"reserved":  {func(x *scene) { reserve(x.Hindsight(), 6*s, 8*s) }, Idle{2, 1, 2 * s, 3*s + s/2}},
		"retried":   {func(x *scene) { x.spec.Rules.OnFailure.Retry = 1 }, Idle{}},
		"again":     {func(x *scene) { x.jobs[0].retries = 1 }, Idle{}},
	} {
		x := &scene{w: &world{}, spec: &grid.JobSpec{Class: "a", Command: []string{"x"}, Count: 4,
			Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}}}
		x.Books = New(x.w, 3, []Submission{{Origin: 0, Spec: x.spec}})
		x.Watch(equal{})
		for i := range int32(3) {
			x.Started(i, silent{}, grid.Resources{CPU: grid.CPU})
		}
		c.change(x)
		h := x.Hindsight()
		meet(h)
		h.Closed(0, 1)
		h.note(0, taskBegan, 0, 0, 0) // the origin is busy
		h.note(2*s, taskArrived, 0, 1, 0)
		h.note(4*s, taskBegan, 2, 1, 0)
		h.note(5*s, taskEnded, 2, 1, 0)
		h.note(5*s, taskArrived, 0, 2, 0)
		h.note(6*s, taskArrived, 0, 3, 0)
		h.Opened(7*s, 1)
		h.note(7*s, taskBegan, 1, 2, 0)
		h.note(8*s, taskEnded, 1, 2, 0)
		h.Closed(8*s, 1)
		h.Closed(9*s, 2)
		h.Opened(10*s, 2)
		h.note(19*s, taskEnded, 0, 0, 0)
		h.note(12*s, taskBegan, 2, 3, 0)
		h.note(13*s, taskEnded, 2, 3, 0)
		for k := range x.tasks {
			x.tasks[k].Ended, x.tasks[k].Result = 20*s, (&grid.Result{Cause: grid.Exited}).Compact()
		}
		if got := h.Judge(0).Longest; got != c.want {
			t.Errorf("%s: the longest is %+v, want %+v", name, got, c.want)
		}
		x.CheckIdle(0, 4*time.Second)
		if x.CheckIdle(0, 4*time.Second-1); (len(x.w.said) == 1) != (c.want.Task == 2) {
			t.Errorf("%s: failed %q, want it where only less than 4 s are allowed", name, x.w.said)
		}
	}
}

// A node that had stragglers gets one attempt of an origin at a time; a task stays away from where it failed.
func TestWorkIsKeptFromNodes(t *testing.T) {
	x, e := newKept(), classEdge{edge{0, 1}, "a"}
	x.learn(&moment{kind: nodeSingle, value: 1}, e)
	if x.keeps(0, 5, e) {
		t.Error("it gets no attempt while it has none")
	}
	if x.runs[e.edge] = 1; !x.keeps(0, 5, e) {
		t.Error("it gets a second attempt")
	}
	if x.learn(&moment{kind: nodeSingle}, e); x.keeps(0, 5, e) {
		t.Error("it gets one attempt only, and has delivered since")
	}
	if x.failed[edge{5, 1}] = true; !x.keeps(0, 5, e) || x.keeps(0, 6, e) {
		t.Error("want that the task that failed there is kept from it, and no other")
	}
	if x.learn(&moment{at: 10, kind: classKept, value: 1e-9}, e); !x.keeps(10, 6, e) || x.keeps(12, 6, e) ||
		x.keeps(10, 6, classEdge{e.edge, "b"}) {
		t.Error("want its class kept from it, until the back-off is over")
	}
}
