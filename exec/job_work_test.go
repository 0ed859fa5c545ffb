package exec

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// An attempt is of its job's level, which the class of its offer names, unless its task was demoted to another class.
func TestLevelOfAnAttempt(t *testing.T) {
	e := new(New(grid.Resources{CPU: grid.CPU}))
	s := &grid.JobSpec{Engine: grid.EngineProcess, Command: []string{"sh", "-c", "x"}}
	for k, want := range map[uint32]string{0: grid.LevelOf(s), 1: "large"} {
		class, _ := grid.ClassOfLevel(want)
		at := id(0)
		at.Task.Index = k
		if got := e.Accept(0, at, &grid.Offer{Spec: s, Class: class}, true).Level(); got != want || got == "" {
			t.Errorf("of class %s: level %q, want %q", class, got, want)
		}
	}
}

// Against a linear scan of all lists.
func TestWorkOfAJob(t *testing.T) {
	r, e := grid.NewRand(1, 9), new(New(grid.Resources{CPU: 3 * grid.CPU}))
	var all []grid.AttemptID
	for k := range 3000 {
		now := grid.Time(0).Add(time.Duration(k) * time.Millisecond)
		switch n := len(all); {
		case r.IntN(2) == 0 && (k/500)%2 == 0 || n == 0:
			o := offer(grid.CPU, 0, "c")
			o.ID = id(k)
			o.ID.Task.Job.Nonce = [10]byte{byte(r.IntN(8))}
			e.Accept(now, o.ID, o, true)
			all = append(all, o.ID)
			e.Next(now)
		case r.IntN(3) == 0:
			e.Finish(all[r.IntN(n)], nil)
		default:
			i := r.IntN(n)
			e.Forget(all[i])
			e.Stopped(all[i])
			all = slices.Delete(all, i, i+1)
		}
		for job := range byte(8) {
			var want, got []uint32
			for _, a := range all {
				if a.Task.Job.Nonce[0] == job {
					want = append(want, a.Task.Index)
				}
			}
			for _, w := range e.Of(grid.JobID{Origin: id(0).Task.Job.Origin, Nonce: [10]byte{job}}, nil) {
				got = append(got, w.ID.Task.Index)
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("after %d changes job %d has %v here, want %v", k, job, got, want)
			}
		}
	}
}
