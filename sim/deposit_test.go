package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// jobWithFiles is a job with an input file and an output file for each task.
func jobWithFiles(count uint32) *grid.JobSpec {
	s := spec("a", count, grid.CPU)
	s.Inputs = []grid.File{{Path: "data", Blob: grid.BlobID{1}, Size: 3 * grid.MiB}}
	s.Outputs = []string{"out"}
	return s
}

// The origin of all jobs is lost for good: tasks that need its files run, and their outputs are with the members. At
// every step the world checks that a majority of the members has the files when a submission is acknowledged or a
// result final.
func TestFilesOutliveTheirOrigin(t *testing.T) {
	c := replicated()
	work(&c, 5*time.Second, 50*time.Millisecond, 20, []int{0}, jobWithFiles(3))
	c.Faults = []Fault{{At: 9 * time.Second, Kind: Lose, Nodes: []int{0}}}
	play(t, c, func(t *testing.T, w *World, r Report) {
		if r.Failed != 0 {
			t.Errorf("%d tasks failed", r.Failed)
		}
		for k := range w.cfg.Work {
			for _, id := range w.books.Job(k).Members[1:] {
				v := w.hosts[w.index(id)].member.(*node.Node).Tasks(w.jobID(int32(k)), nil)
				for i := range v {
					if v[i].Result == nil || v[i].Result.Error != "" || !hasFiles(w, w.index(id), v[i].Result.Outputs) {
						t.Errorf("a member has of task %d of submission %d %+v, and not its file", i, k, v[i].Result)
					}
				}
			}
		}
	})
}

// An origin that restarts gets the outputs from while it was down.
func TestReturningOriginHasWhatWasLeft(t *testing.T) {
	c := replicated()
	work(&c, 5*time.Second, 50*time.Millisecond, 10, []int{0}, jobWithFiles(2))
	c.Faults = []Fault{{At: 8 * time.Second, Kind: Crash, Nodes: []int{0}},
		{At: 2 * time.Minute, Kind: Restart, Nodes: []int{0}}}
	c.Rest = 3 * time.Minute
	play(t, c, func(t *testing.T, w *World, r Report) {
		if r.Failed != 0 {
			t.Errorf("%d tasks failed", r.Failed)
		}
		for k, x := range allTasks(w) {
			if res := x.Result.Result(); !hasFiles(w, 0, res.Outputs) {
				t.Errorf("the origin is back and lacks what task %d left", k)
			}
		}
	})
}

// Files above the deposit bound stay where they are, and the submitter is told so at once.
func TestTooLargeToBeCopied(t *testing.T) {
	c := replicated()
	c.Node = func(_ int, c *node.Config) { c.Capacity.CPU, c.Members, c.DepositLimit = 2*grid.CPU, 3, grid.MiB }
	work(&c, 5*time.Second, time.Second, 1, []int{0}, jobWithFiles(2))
	play(t, c, func(t *testing.T, w *World, r Report) {
		for k, x := range allTasks(w) {
			if text := x.Result.Result().Error; r.Failed != 0 ||
				!strings.Contains(text, "is only with node "+w.hosts[0].id.Short()) {
				t.Errorf("the end of task %d says %q, %d failed", k, text, r.Failed)
			}
		}
	})
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.RunUntil(5500 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	v, _ := w.hosts[0].member.(*node.Node).Job(w.jobID(0))
	if !w.books.Job(0).Confirmed || !strings.Contains(v.InputsAtRisk, "only with node "+w.hosts[0].id.Short()) {
		t.Errorf("half a second later: acknowledged %v, inputs %q", w.books.Job(0).Confirmed, v.InputsAtRisk)
	}
}

// A submission is acknowledged when a majority has its inputs, not before, however slow the transfer is.
func TestSubmissionWaitsForItsInputs(t *testing.T) {
	c := replicated()
	c.Machine.Bandwidth = grid.MiB
	work(&c, 5*time.Second, time.Second, 1, []int{0}, jobWithFiles(1))
	for at, want := range map[time.Duration]bool{7500 * time.Millisecond: false, 9 * time.Second: true} {
		w, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.RunUntil(at); err != nil {
			t.Fatal(err)
		}
		if w.books.Job(0).Confirmed != want {
			t.Errorf("at %v, of 3 MiB at 1 MiB/s from 5 s on: acknowledged %v, want %v", at, !want, want)
		}
	}
}

// Members with a small deposit quota evict the oldest finished jobs and accept new ones.
func TestRoomIsLentAgain(t *testing.T) {
	c := replicated()
	c.Nodes = 3
	c.Node = func(_ int, c *node.Config) { c.Capacity.CPU, c.Members, c.DepositQuota = 2*grid.CPU, 3, 24*grid.MiB }
	work(&c, 5*time.Second, 8*time.Second, 12, []int{0}, jobWithFiles(1))
	play(t, c, func(t *testing.T, w *World, r Report) {
		for k, x := range allTasks(w) {
			if text := x.Result.Result().Error; text != "" || r.Failed != 0 {
				t.Errorf("the end of task %d says %q, %d failed", k, text, r.Failed)
			}
		}
		if _, kept := w.hosts[1].member.(*node.Node).Job(w.jobID(0)); kept {
			t.Error("a member with 12 MiB for one owner still has the first of 12 jobs of 4")
		}
		if _, kept := w.hosts[1].member.(*node.Node).Job(w.jobID(11)); !kept {
			t.Error("a member has forgotten the last job")
		}
	})
}

// hasFiles reports whether each file is on a node.
func hasFiles(w *World, i int32, files []grid.File) bool {
	return !slices.ContainsFunc(files, func(f grid.File) bool { return !w.hasBlob(i, f.Blob) })
}
