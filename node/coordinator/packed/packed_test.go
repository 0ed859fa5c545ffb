package packed

import (
	"reflect"
	"testing"
	"time"

	"skep/grid"
	"skep/node/history"
)

var (
	self  = grid.NodeID{7}
	other = grid.NodeID{8}
	wall  = grid.Wall{Zero: time.Unix(1_700_000_000, 0)}
)

// ended is a job of three tasks: one ran here, one elsewhere with a result of more than numbers, one never ran.
func ended() (Summary, []Task) {
	at := wall.At(0).UnixNano()
	s := Summary{ID: grid.JobID{Origin: self, Nonce: [10]byte{1, 2, 9: 3}}, Spec: &grid.JobSpec{Count: 3}, Cancelled: true,
		Submitted: at - 5, Arrived: -5, Done: at + 9, QuietAt: 11, NextFresh: 3, BackupFrom: 2, Failed: 1, Exit: 130}
	var told history.History
	told.Add(&grid.Trace{At: 1, What: grid.TraceChosen, Node: self}, nil)
	told.Add(&grid.Trace{At: 3, What: grid.TraceEnded, Node: self}, nil)
	failed := &grid.Result{Cause: grid.Exited, Exit: 1, Error: "it was so"}
	return s, []Task{
		{Worker: self, Result: (&grid.Result{Cause: grid.Exited, Waited: 1, Wall: 2, CPU: 3, MaxRSS: 4}).Compact(),
			Attempt: grid.Attempt{Epoch: 1, N: 2}, Placed: at - 4, Began: at - 3, Done: at, History: told},
		{Held: true, Worker: other, Result: failed.Compact(), Attempt: grid.Attempt{Epoch: 1, N: 3},
			Backup: grid.Attempt{Epoch: 1, N: 4}, Lost: 2, Placed: at, Began: at + 1, Done: at + 9, History: told},
		{Done: at + 9},
	}
}

func pack(s Summary, tasks []Task, b *Buffer) Job {
	w := Write(self, wall, s, b)
	for i := range tasks {
		w.Task(&tasks[i])
	}
	return w.Job()
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	var b Buffer
	want, tasks := ended()
	p := pack(want, tasks, &b)
	pack(Summary{Spec: want.Spec, Submitted: 1}, make([]Task, 3), &b) // the buffer is used again
	got, rest := p.Read(self, wall)
	if got != want {
		t.Errorf("the job is\n%+v, want\n%+v", got, want)
	}
	for i := range tasks {
		if x := rest.Next(); !reflect.DeepEqual(x, tasks[i]) {
			t.Errorf("task %d is\n%+v, want\n%+v", i, x, tasks[i])
		}
	}
	if len(rest.b) > 0 || p.Tasks() != 3 || p.ID(self) != want.ID {
		t.Errorf("%d bytes are left, %d tasks, job %v", len(rest.b), p.Tasks(), p.ID(self))
	}
}

// IDs may share their first bytes: the whole of one decides.
func TestAJobIsFoundByItsWholeID(t *testing.T) {
	s, tasks := ended()
	p, alike, unlike := pack(s, tasks, new(Buffer)), s.ID, s.ID
	alike.Nonce[9]++
	unlike.Nonce[0]++
	if !p.Is(s.ID) || p.Is(alike) || p.Is(unlike) || !p.MayBe(alike) || p.MayBe(unlike) {
		t.Errorf("it is the job: %v, %v, %v, want only the first", p.Is(s.ID), p.Is(alike), p.Is(unlike))
	}
	if n := Named(s.ID); n.Full() || !n.MayBe(s.ID) || n.Is(s.ID) || !p.Full() {
		t.Error("a job without its contents has contents")
	}
}

// A job that is packed takes a tenth of the memory of one that can change: see the documentation of the package.
func TestAPackedTaskIsSmall(t *testing.T) {
	s, tasks := ended()
	p := pack(s, tasks[:1], new(Buffer))
	if len(p.text) > 80 {
		t.Errorf("a job of one task takes %d bytes, want at most 80", len(p.text))
	}
}
