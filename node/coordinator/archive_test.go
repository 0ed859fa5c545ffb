package coordinator

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"skep/grid"
	"skep/node/coordinator/tasks"
	"skep/node/failures"
)

// endedJob makes a job of a node that has ended in some way.
func endedJob(n *Coordinator, r *grid.Rand, k uint32) *job {
	at := func() int64 { return n.wall.At(grid.Time(r.Int64N(1e15))).UnixNano() }
	spec := &grid.JobSpec{Engine: grid.EngineProcess, Command: []string{"x"}, Count: 1 + uint32(r.IntN(4))}
	j := &job{id: grid.JobID{Origin: n.cfg.Self}, spec: spec, class: grid.ClassOf(spec), submitted: at(),
		arrived: grid.Time(r.Int64N(1e15)) - 5e14,
		done:    at(), cancelled: r.IntN(2) == 0,
		Ends:    failures.Ends{Failed: int32(r.IntN(3)), Exit: int32(r.IntN(3))},
		placing: placing{nextFresh: uint32(r.IntN(3))}, backupFrom: uint32(r.IntN(3)),
		cancelling: cancelling{quietAt: grid.Time(r.IntN(2))},
		replica:    n.closedReplica()}
	j.id.Nonce[7], j.id.Nonce[8], j.id.Nonce[9] = byte(k>>16), byte(k>>8), byte(k)
	j.tasks = tasks.Ended[*liveTask](spec.Count, func() tasks.Kept { return tasks.Kept{} })
	for i := range spec.Count {
		t := j.tasks.At(i)
		t.Attempt, t.Lost = grid.Attempt{Epoch: uint32(r.IntN(3)), N: uint32(r.IntN(3))}, int32(r.IntN(3))
		t.Backup = grid.Attempt{Epoch: uint32(r.IntN(3)), N: uint32(r.IntN(3))}
		res := grid.Result{Cause: grid.Exited, Exit: int32(r.IntN(256)), Wall: time.Duration(r.Int64N(1e10)),
			MaxRSS: grid.Bytes(r.Int64N(1e9))}
		switch r.IntN(3) {
		case 0:
			t.Worker = n.cfg.Self
		case 1:
			t.Worker[3], t.Held, res.Error = byte(1+r.IntN(200)), true, "it was so"
		}
		if r.IntN(5) > 0 {
			t.Result = res.Compact()
			t.Placed, t.Began, t.Done = at(), at(), at()
		}
		for x := range r.IntN(30) {
			other := grid.NodeID{byte(r.IntN(3))}
			if r.IntN(2) == 0 {
				other = t.Worker
			}
			n.trace(t, grid.Trace{At: grid.Time(x) * 1e9, What: grid.TraceChosen, Node: other, ECT: time.Duration(r.IntN(2)),
				Refusal: grid.Refusal{Why: grid.Why(r.IntN(2)), Detail: []string{"", "so"}[r.IntN(2)]}})
		}
	}
	return j
}

// contents is all that can be read of a job, traces included.
func contents(j *job) any {
	c := *j
	views, all := []TaskView{}, []task{}
	for i := range c.spec.Count {
		views = append(views, j.taskView(i))
		all = append(all, *j.at(i))
		all[i].History = nil
	}
	c.tasks = tasks.List[*liveTask]{}
	return []any{c, all, views, j.view()}
}

func TestPackRoundTrip(t *testing.T) {
	r, n := grid.NewRand(1, 2), keeper(t)
	for k := range uint32(500) {
		j := endedJob(n, r, k)
		f := archivedJob{Job: n.pack(j)}
		if got := n.unpack(&f, true); !reflect.DeepEqual(contents(got), contents(j)) {
			t.Fatalf("job %d:\n%+v\nis\n%+v", k, contents(j), contents(got))
		}
		if got := n.unpack(&f, false).view(); !reflect.DeepEqual(got, j.view()) {
			t.Fatalf("job %d as a whole:\n%+v\nis\n%+v", k, j.view(), got)
		}
	}
}

// tally is the number of jobs that a coordinator says it has.
func tally(c *Coordinator) int {
	jobs, _, _ := c.Tally()
	return jobs
}

// Model test against a list.
func TestArchiveAgainstModel(t *testing.T) {
	r, n := grid.NewRand(1, 3), keeper(t)
	var all []*job
	tasks := 0
	for k := range uint32(1000) {
		j := endedJob(n, r, k)
		n.archiveJob(j, 0)
		n.jobs.Put(j)
		all = append(all, j)
		tasks += j.count()
		if r.IntN(3) > 0 {
			n.packFinished()
		}
		if k > 200 && r.IntN(5) < 3 || k > 800 {
			f := n.archive.Shift(n.cfg.Self)
			if id := f.ID(n.cfg.Self); id != all[0].id {
				t.Fatalf("%v goes first, not %v", id, all[0].id)
			}
			n.jobs.Drop(all[0].id)
			tasks -= all[0].count()
			if n.job(all[0].id) != nil {
				t.Fatal("a job that was taken out is found")
			}
			all = all[1:]
		}
		if k%50 == 0 {
			i := r.IntN(len(all))
			n.archive.Remove(n.cfg.Self, n.archive.Find(all[i].id))
			n.jobs.Drop(all[i].id)
			tasks -= all[i].count()
			all = slices.Delete(all, i, i+1)
			if len(all) == 0 {
				continue
			}
		}
		for range 3 {
			want := all[r.IntN(len(all))]
			got := n.peekJob(want.id)
			if r.IntN(2) == 0 {
				got = n.job(want.id)
			}
			if got == nil || !reflect.DeepEqual(contents(got), contents(want)) {
				t.Fatalf("job %v is\n%+v\nand not\n%+v", want.id, got, want)
			}
		}
		if n.archive.Len() != len(all) || n.archive.Tasks != tasks || len(n.Views().Jobs(nil)) != len(all) ||
			tally(n) != len(all) {
			t.Fatalf("%d jobs of %d tasks, %d listed, %d counted, want %d of %d", n.archive.Len(), n.archive.Tasks,
				len(n.Views().Jobs(nil)), tally(n), len(all), tasks)
		}
	}
	if n.packFinished(); n.jobs.Len() != 0 || n.archive.Packed != len(all) {
		t.Errorf("%d are open, %d of %d packed", n.jobs.Len(), n.archive.Packed, len(all))
	}
}

// A message about one task of a large job must not cost unpacking all of them: large jobs are not packed.
func TestLargeJobsAreNotPacked(t *testing.T) {
	for _, count := range []uint32{maxPackedTasks, maxPackedTasks + 1} {
		n := keeper(t)
		j := n.newJob(grid.JobID{Origin: selfID}, &grid.JobSpec{Engine: grid.EngineProcess, Command: []string{"true"},
			Count: count}, 0)
		j.replica = n.closedReplica()
		for i := range count {
			j.tasks.Set(i, grid.Ended)
		}
		n.archiveJob(j, 0)
		n.packFinished()
		if packed := n.archive.Packed == 1; packed != (count == maxPackedTasks) {
			t.Errorf("%d tasks: packed %v", count, packed)
		}
		if v, ok := n.Views().Task(grid.TaskID{Job: j.id, Index: count - 1}); !ok || v.State != grid.Ended {
			t.Errorf("%d tasks: the last is %v, %v", count, v.State, ok)
		}
	}
}
