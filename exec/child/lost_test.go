package child

import (
	"errors"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"skep/exec/external"
	"skep/exec/process"
	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// The answer to a withdrawal does not come, or the node is killed before it has it: the job of that ID is not taken for
// the task's, which has not run. Where the task's submission was first it is that which is followed.
func TestAnswerToWithdrawalIsLost(t *testing.T) {
	for _, c := range []struct {
		name, there string // the name of the job that the child has; "" = none
		withdrawn   bool   // the order says so
		never       bool
	}{
		{"answer lost", "", false, true},
		{"killed before it", "", true, true},
		{"killed after it", "withdrawn", true, true},
		{"submission first", "job", true, false},
	} {
		f, dir := &fakeGrid{jobs: map[string]*v1.Job{}, lose: 1}, t.TempDir()
		o := leave(t, dir, "key", client.Draw()+"-node", c.withdrawn)
		if c.there != "" {
			f.jobs[o.ID] = &v1.Job{ID: o.ID, Name: c.there, State: v1.JobPending, Count: 1}
		}
		e := f.open(t, dir)
		task, err := e.Adopt("key", nil)
		if task == nil {
			t.Fatal(err)
		}
		if !c.never {
			f.finish()
		}
		r := wait(t, task)
		f.mu.Lock()
		there := *f.jobs[o.ID]
		f.mu.Unlock()
		if task.Never() != c.never || !c.never && r.Code() != 0 || c.never && there.State != v1.JobCancelled {
			t.Errorf("%s: %+v, never %t, there %+v: want never %t", c.name, r, task.Never(), there, c.never)
		}
	}
}

// What a task has printed is gone with a node of the child: after a while the task is lost, and at once where nobody
// wants its result.
func TestResultIsGone(t *testing.T) {
	f := &fakeGrid{jobs: map[string]*v1.Job{}, printed: 5}
	for _, cancelled := range []bool{false, true} {
		o := Options{Dir: t.TempDir(), Patience: 50 * time.Millisecond}
		if cancelled {
			o.Patience = time.Hour
		}
		e := f.openWith(t, o)
		task, err := e.Start(work(t, e), nil)
		if err != nil {
			t.Fatal(err)
		}
		f.finish()
		want := process.Broken
		if cancelled {
			task.Cancel()
			want = process.Cancelled
		}
		if r := wait(t, task); r.Cause != want || task.Never() {
			t.Errorf("%+v: want %v", r, want)
		}
	}
}

// The node of the child that has one job does not answer for it: the others are looked after.
func TestOneJobIsNotToldOf(t *testing.T) {
	f, dir := &fakeGrid{jobs: map[string]*v1.Job{}, refuses: map[string]int{"a-gone": http.StatusBadGateway}}, t.TempDir()
	leave(t, dir, "first", "a-gone", false)
	leave(t, dir, "second", "b-node", false)
	f.jobs["b-node"] = &v1.Job{ID: "b-node", Name: "job", State: v1.JobDone, Count: 1, Ended: 1}
	e := f.open(t, dir)
	second, err := e.Adopt("second", nil)
	if second == nil {
		t.Fatal(err)
	}
	if r := wait(t, second); r.Code() != 0 {
		t.Errorf("%+v: want its result", r)
	}
	if first, _ := e.Adopt("first", nil); first == nil || !strings.Contains(first.Last().Text, "does not tell") {
		t.Error("want that the other one is still waited for")
	}
}

// A token that the child has taken back refuses no task: it waits for the operator, also one with inputs.
func TestTokenIsTakenBack(t *testing.T) {
	f := &fakeGrid{jobs: map[string]*v1.Job{}, refuses: map[string]int{}}
	e := f.open(t, t.TempDir())
	w := work(t, e)
	w.Inputs = []grid.File{{Path: "in", Blob: grid.BlobID{1}}}
	f.mu.Lock()
	for _, path := range []string{"/v1/blobs/" + w.Inputs[0].Blob.String(), "/v1/jobs"} {
		f.refuses[path] = http.StatusUnauthorized
	}
	f.mu.Unlock()
	for range 2 {
		if _, err := e.Start(w, nil); !errors.Is(err, external.ErrBusy) {
			t.Errorf("with %d inputs: %v: want that it may be tried again", len(w.Inputs), err)
		}
		w.Inputs = nil
	}
}

// A start lease that runs out while inputs are uploaded is no right to submit the task any more: its owner may have had
// it start elsewhere.
func TestLeaseRunsOutBeforeSubmission(t *testing.T) {
	f := &fakeGrid{jobs: map[string]*v1.Job{}}
	e := f.open(t, t.TempDir())
	w := work(t, e)
	w.MayStart = func() bool { return false }
	if _, err := e.Start(w, nil); !errors.Is(err, external.ErrBusy) || f.submissions() != 0 {
		t.Errorf("%v, %d submissions: want none", err, f.submissions())
	}
}

// Numbers that no node may claim are not believed.
func TestNumbersAreBounded(t *testing.T) {
	labels := map[string]string{"os": "linux", "arch": "amd64"}
	large, less := machine("a", v1.NodeConnected, 4, "none"), machine("b", v1.NodeConnected, 4, "none")
	large.Cores, large.Memory, large.FreeCores = 1e300, math.MaxInt64, 1e308
	less.Cores, less.Memory, less.FreeCores = -1, -1, -1e9
	var g Grid
	for range 2 {
		g.add(&large, labels)
		g.add(&less, labels)
	}
	if g.Cores != mostCores || g.Memory != grid.MaxMemory || g.Free > 2*mostCores || g.Free < 0 {
		t.Errorf("%+v: want at most what one node may claim", g)
	}
	if d := transferTime(math.MaxInt64); d < transferTime(1<<40) {
		t.Errorf("time for a transfer of any size: %v", d)
	}
}
