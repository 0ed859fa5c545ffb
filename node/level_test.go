package node

import (
	"fmt"
	"testing"
	"time"

	"skep/grid"
)

// manyInputs is a job that a look at each input for each argument would make expensive.
func manyInputs(inputs int) *grid.JobSpec {
	return spec(func(s *grid.JobSpec) {
		s.Command, s.Count = []string{"tool"}, grid.MaxCount
		for k := range 16 {
			s.Command = append(s.Command, fmt.Sprintf("./argument-%d", k))
		}
		for k := range inputs {
			s.Inputs = append(s.Inputs, grid.File{Path: fmt.Sprintf("./in/%d", k), Blob: grid.BlobID{1}, Size: 1})
		}
	})
}

// The level of a job's tasks is found once: a further offer, a pull by an idle node and a look at what waits cost no
// more where the job has a hundred times as many inputs.
func TestLevelIsFoundOncePerJob(t *testing.T) {
	const few, many = 10, 1000
	cost := func(inputs int) map[string]float64 {
		r := newRig(t, func(c *Config) { c.Pull = true })
		r.join(fastID, 1, "linux")
		r.join(slowID, 0.001, "linux")
		s, next := manyInputs(inputs), uint32(0)
		offered := func() {
			id := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: fastID, Nonce: [10]byte{1}}, Index: next},
				Attempt: grid.Attempt{Epoch: 1, N: 1}}
			next++
			r.offer(fastID, id, s)
			r.step(grid.Event{Kind: grid.EvFetched, Attempt: id})
		}
		for range 64 {
			offered()
		}
		notices := 0
		all := map[string]float64{
			"an offer": testing.AllocsPerRun(20, offered),
			"a pull": testing.AllocsPerRun(20, func() {
				r.deliver(slowID, grid.KindPull, func(m *grid.Message) { m.Poll.Needs = oneCore })
			}),
			"a look": testing.AllocsPerRun(20, func() {
				r.now = r.now.Add(50 * time.Millisecond)
				r.n.pull.Heard(slowID)
				r.step(grid.Event{Kind: grid.EvWake, Timer: grid.Timer{Kind: grid.TimerPull}})
				notices += len(r.sent(grid.KindWaiting))
			}),
		}
		if queued := len(r.n.worker.Exec().Queue()); queued != int(next)-1 || notices == 0 {
			t.Fatalf("%d of %d wait, %d notices: want that the slow node gets none before they are overdue", queued, next,
				notices)
		}
		return all
	}
	small, large := cost(few), cost(many)
	for what, n := range large {
		if n > small[what]+8 {
			t.Errorf("%s: %g allocations with %d inputs, %g with %d", what, n, many, small[what], few)
		}
	}
}

// What waits at a worker, or for its placement, names the level by which other nodes are judged for it.
func TestWaitingWorkNamesItsLevel(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	s := spec(func(s *grid.JobSpec) { s.Command, s.Policy = []string{"sh", "-c", "x"}, "workqueue" })
	r.offer(fastID, foreignAttempt(1), s)
	r.offer(fastID, foreignAttempt(2), s)
	r.submit(jobID(1), s)
	r.answerAll(map[grid.NodeID]int64{fastID: 3})
	for where, waiting := range map[string][]grid.Waiting{"at the worker": r.n.worker.Waiting(r.now, nil),
		"for its placement": r.n.coordinator.Waiting(r.now, nil)} {
		if len(waiting) != 1 || waiting[0].Level != grid.LevelOf(s) || waiting[0].Class != "process:sh" {
			t.Errorf("%s: %+v, want one of level %q", where, waiting, grid.LevelOf(s))
		}
	}
}

// told has a node run tasks of two texts, some of its own and some of a peer's, and returns what others hear of that.
func told(t *testing.T, access func(*grid.JobSpec), short, long string) (all []string) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	hear := func() {
		for _, x := range r.fx.Sends {
			m := &x.Msg
			all = append(all, fmt.Sprint(m.Kind, m.Poll.Class, m.Poll.Rates, m.State.Rates, m.Offer.Class))
			for _, e := range m.Digest {
				all = append(all, fmt.Sprint(e.Ad.Rates))
			}
		}
	}
	run := func(id grid.AttemptID, took time.Duration) {
		r.now = r.now.Add(took)
		r.step(grid.Event{Kind: grid.EvEnded, Attempt: id, Result: &grid.Result{Cause: grid.Exited, Wall: took}})
		hear()
	}
	for k := range byte(24) {
		text, took := short, 50*time.Millisecond
		if k%2 == 0 {
			text, took = long, 3*time.Second
		}
		s := spec(func(s *grid.JobSpec) {
			s.Command, s.Inputs = []string{"sh", "-c", text}, nil
			access(s)
		})
		r.offer(fastID, foreignAttempt(k), s)
		hear()
		run(foreignAttempt(k), took)
		r.submit(jobID(k), s)
		hear()
		r.answerAll(map[grid.NodeID]int64{fastID: 1000})
		hear()
		run(r.task(jobID(k)).ID, took)
		r.deliver(fastID, grid.KindPoll, func(m *grid.Message) {
			m.Poll = grid.Poll{ID: 1, Class: "process:sh", Needs: oneCore, Speed: 1, Cores: grid.CPU}
		})
		hear()
	}
	return append(all, fmt.Sprint(r.n.nextAd(r.now).Rates))
}

// Nothing that is told of a job under access: owner depends on the text that it runs: who hears it could try out what
// the text may be. Of others the two texts are told apart.
func TestTextOfOwnerOnlyJobIsNotTold(t *testing.T) {
	same := func(access func(*grid.JobSpec)) bool {
		return fmt.Sprint(told(t, access, "sleep 0.05", "sleep 3")) == fmt.Sprint(told(t, access, "login a", "login b"))
	}
	if !same(ownerOnly) {
		t.Error("under access: owner it shows which texts were run")
	}
	if same(func(*grid.JobSpec) {}) {
		t.Error("two texts of unequal times are told as one: the test does not see levels")
	}
}
