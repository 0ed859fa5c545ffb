package bulk

import (
	"slices"
	"testing"
)

type job struct {
	Progress
	count   uint32
	room    int
	skipped func(uint32) bool
	ended   []uint32
}

func (j *job) BulkEnd() *Progress  { return &j.Progress }
func (j *job) Skips(i uint32) bool { return j.skipped != nil && j.skipped(i) }
func (j *job) Admits() bool        { return j.room > len(j.ended) }
func (j *job) End(i uint32)        { j.ended = append(j.ended, i) }

// Jobs share the batch of a step, in turns; each task ends once, in order.
func TestABatchIsShared(t *testing.T) {
	var e Ends[*job]
	jobs := []*job{{count: Batch + 10}, {count: 2*Batch + 5}}
	var wakes, steps int
	run := func(j *job) {
		if _, later := e.Run(&j.Progress, j.count, j); later && e.Queue(j) {
			wakes++
		}
	}
	e.Begin()
	for _, j := range jobs {
		j.room = int(j.count)
		j.Start()
		run(j)
	}
	for ; jobs[0].On() || jobs[1].On(); steps++ {
		before := len(jobs[0].ended) + len(jobs[1].ended)
		e.Begin()
		for _, j := range e.Take() {
			run(j)
		}
		if n := len(jobs[0].ended) + len(jobs[1].ended) - before; n > Batch {
			t.Fatalf("%d tasks ended in a step", n)
		}
	}
	if steps != 3 || wakes != 3 || e.Spent() {
		t.Errorf("%d steps more, and %d wakes: want 3, as %d tasks are left", steps, wakes, 2*Batch+15)
	}
	for _, j := range jobs {
		if len(j.ended) != int(j.count) || !slices.IsSorted(j.ended) {
			t.Errorf("%d of %d tasks ended", len(j.ended), j.count)
		}
	}
	if len(e.Take()) != 0 {
		t.Error("a job is queued that is done")
	}
}

// A job is queued once, whoever has its end go on meanwhile.
func TestAJobIsQueuedOnce(t *testing.T) {
	var e Ends[*job]
	j := &job{count: 1}
	if j.Start(); !e.Queue(j) || e.Queue(j) {
		t.Error("want one wake")
	}
	if due := e.Take(); len(due) != 1 || !e.Queue(j) {
		t.Errorf("%d jobs are due: want one, which is queued again", len(due))
	}
}

// Without room the end stops where it is, and goes on there; what has ended or goes on is left alone.
func TestAnEndGoesOnWhereItStopped(t *testing.T) {
	var e Ends[*job]
	e.Begin()
	j := &job{count: 9, room: 2, skipped: func(i uint32) bool { return i%2 == 0 }}
	j.Start()
	if done, later := e.Run(&j.Progress, j.count, j); done || later || !j.On() {
		t.Errorf("done %v, later %v: want that it waits for room", done, later)
	}
	j.room = 9
	if done, _ := e.Run(&j.Progress, j.count, j); !done || j.On() || !slices.Equal(j.ended, []uint32{1, 3, 5, 7}) {
		t.Errorf("done %v, of tasks %v", done, j.ended)
	}
	if j.Start(); !j.On() {
		t.Error("it does not begin again")
	}
	if j.Stop(); j.On() {
		t.Error("it does not stop")
	}
}
