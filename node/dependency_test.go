package node

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// after makes a job wait for others.
func after(kind grid.AfterKind, jobs ...grid.JobID) func(*grid.JobSpec) {
	return func(s *grid.JobSpec) {
		for _, id := range jobs {
			s.After.Jobs = append(s.After.Jobs, grid.Dependency{Job: id, Kind: kind})
		}
	}
}

// reads adds a file of the first job that is waited for to the inputs.
func reads(path, to string) func(*grid.JobSpec) {
	return func(s *grid.JobSpec) {
		s.After.Inputs = append(s.After.Inputs, grid.JobInput{Path: path, To: to})
		s.Needs.AddFeature(grid.JobInputsLabel)
	}
}

func with(changes ...func(*grid.JobSpec)) *grid.JobSpec {
	return spec(func(s *grid.JobSpec) {
		for _, c := range changes {
			c(s)
		}
	})
}

func count(n uint32) func(*grid.JobSpec) { return func(s *grid.JobSpec) { s.Count = n } }

// alone is a rig of a node with many cores and the labels of this version.
func alone(t *testing.T) *rig {
	return newRig(t, func(c *Config) {
		c.Capacity.CPU = 64 * grid.CPU
		c.Labels = append(grid.FeatureLabels(), c.Labels...)
	})
}

// running lists the tasks of a job that run.
func (r *rig) running(id grid.JobID) (tasks []uint32) {
	for _, w := range r.n.worker.Exec().Of(id, nil) {
		if w.State == grid.WorkRunning {
			tasks = append(tasks, w.ID.Task.Index)
		}
	}
	return tasks
}

// end ends the running attempt of a task.
func (r *rig) end(id grid.JobID, task uint32, res *grid.Result) {
	r.t.Helper()
	for _, w := range r.n.worker.Exec().Of(id, nil) {
		if w.State == grid.WorkRunning && w.ID.Task.Index == task {
			r.now = r.now.Add(time.Second)
			r.step(grid.Event{Kind: grid.EvEnded, Attempt: w.ID, Result: res})
			return
		}
	}
	r.t.Fatalf("task %d of job %v does not run", task, id.Short())
}

var exitOne = &grid.Result{Cause: grid.Exited, Exit: 1, Wall: time.Second}

// after_ok: a job starts once all tasks of the other one have ended well.
func TestAfterOKStartsWhenAllTasksEndedWell(t *testing.T) {
	r := alone(t)
	r.submit(jobID(1), with(count(2)))
	r.submit(jobID(2), with(after(grid.AfterOK, jobID(1))))
	if v := r.task(jobID(2)); v.State != grid.Pending || v.Waits.Why != grid.WhyAfter {
		t.Fatalf("%v, waits: %v; want it pending, since it waits for a job", v.State, v.Waits.Why)
	}
	if r.end(jobID(1), 0, exitZero); len(r.running(jobID(2))) > 0 {
		t.Fatal("runs when one of the two tasks has ended")
	}
	if r.end(jobID(1), 1, exitZero); len(r.running(jobID(2))) != 1 {
		t.Fatalf("does not run when both have ended: %+v", r.task(jobID(2)))
	}
}

// after: any end will do, also of a job that had ended before.
func TestAfterStartsAfterAnyEnd(t *testing.T) {
	r := alone(t)
	r.submit(jobID(1), with())
	r.submit(jobID(2), with(after(grid.AfterAny, jobID(1))))
	if r.end(jobID(1), 0, exitOne); len(r.running(jobID(2))) != 1 {
		t.Error("does not run after a failure")
	}
	if r.submit(jobID(3), with(after(grid.AfterAny, jobID(1)))); len(r.running(jobID(3))) != 1 {
		t.Error("does not run when the other job was over before")
	}
}

// A job whose after_ok job failed or was cancelled ends as cancelled, and the reason names that job; so does what
// waits for it in turn.
func TestAfterOKOfAFailedJobEnds(t *testing.T) {
	for _, cancel := range []bool{false, true} {
		r := alone(t)
		r.submit(jobID(1), with(count(3)))
		r.submit(jobID(2), with(count(2), after(grid.AfterOK, jobID(1))))
		r.submit(jobID(3), with(after(grid.AfterOK, jobID(2))))
		want := "job " + jobID(1).Short() + ", which it was to follow, failed with exit code 1"
		if cancel {
			r.step(grid.Event{Kind: grid.EvCancel, Job: jobID(1)})
			for _, w := range r.n.worker.Exec().Of(jobID(1), nil) {
				r.step(grid.Event{Kind: grid.EvEnded, Attempt: w.ID, Result: exitZero})
			}
			want = "job " + jobID(1).Short() + ", which it was to follow, was cancelled"
		} else {
			r.end(jobID(1), 0, exitZero)
			r.end(jobID(1), 1, exitOne)
			if v, _ := r.n.Job(jobID(2)); v.Ended > 0 {
				t.Error("ended before the other job was over")
			}
			r.end(jobID(1), 2, exitZero)
		}
		v, _ := r.n.Job(jobID(2))
		if v.Ended != 2 || !v.Cancelled || v.Stopped != want {
			t.Errorf("cancel %v: %d ended, cancelled %v: %q; want both, with %q", cancel, v.Ended, v.Cancelled, v.Stopped,
				want)
		}
		if res := r.task(jobID(2)).Result; res == nil || res.Cause != grid.Cancelled ||
			!strings.Contains(res.Error, want) {
			t.Errorf("its tasks end with %+v", res)
		}
		if v, _ := r.n.Job(jobID(3)); !v.Cancelled || !strings.Contains(v.Stopped, jobID(2).Short()) {
			t.Errorf("what waits for it: %+v", v)
		}
	}
}

// after_each: task i starts once task i of the other job has ended well, and ends if that one has not.
func TestAfterEachReleasesTaskByTask(t *testing.T) {
	r := alone(t)
	r.submit(jobID(1), with(count(4)))
	r.submit(jobID(2), with(count(4), after(grid.AfterEach, jobID(1))))
	r.submit(jobID(3), with(count(4), after(grid.AfterEach, jobID(2))))
	r.end(jobID(1), 2, exitZero)
	if got := r.running(jobID(2)); len(got) != 1 || got[0] != 2 {
		t.Fatalf("tasks %v run, want 2", got)
	}
	r.end(jobID(1), 0, exitOne)
	if v, _ := r.n.Task(grid.TaskID{Job: jobID(2), Index: 0}); v.State != grid.Ended || v.Result.Cause != grid.Cancelled ||
		!strings.Contains(v.Result.Error, "task 0 of job "+jobID(1).Short()) {
		t.Errorf("after a failed task: %v, %+v", v.State, v.Result)
	}
	r.end(jobID(2), 2, exitZero)
	if got := r.running(jobID(3)); len(got) != 1 || got[0] != 2 {
		t.Errorf("of the third job tasks %v run, want 2", got)
	}
	r.end(jobID(1), 1, exitZero)
	r.end(jobID(1), 3, exitZero)
	r.end(jobID(2), 1, exitZero)
	r.end(jobID(2), 3, exitZero)
	for _, i := range []uint32{1, 2, 3} {
		r.end(jobID(3), i, exitZero)
	}
	if v, _ := r.n.Job(jobID(3)); v.Ended != 4 || v.Failed != 1 {
		t.Errorf("%d ended, %d failed; want all four, one of them since its first task failed", v.Ended, v.Failed)
	}
}

// What a job waits for is in its register: after a restart neither is it released early nor is it asked for again.
func TestDependencySurvivesRestart(t *testing.T) {
	r := alone(t)
	r.submit(jobID(1), with(count(3)))
	r.submit(jobID(2), with(count(3), after(grid.AfterEach, jobID(1))))
	r.submit(jobID(3), with(after(grid.AfterOK, jobID(1))))
	r.end(jobID(1), 1, exitZero)
	r.end(jobID(2), 1, exitZero)
	r = r.restart()
	if len(r.running(jobID(2)))+len(r.running(jobID(3))) > 0 {
		t.Fatal("something was released by the restart")
	}
	for end := r.now.Add(time.Minute); len(r.running(jobID(1))) < 2 && r.now < end; {
		r.pass(time.Second)
	}
	r.end(jobID(1), 0, exitZero)
	r.end(jobID(1), 2, exitZero)
	if got := r.running(jobID(2)); len(got) != 2 || len(r.running(jobID(3))) != 1 {
		t.Fatalf("tasks %v of the one and %v of the other run, want 0 and 2, and 0", got, r.running(jobID(3)))
	}
	if r = r.restart(); r.placed(jobID(3)) != 1 {
		t.Error("what was released is not placed after another restart")
	}
}

// Files that the other job has left come with the offer, under the names that the job gives them. If one is missing,
// nothing runs.
func TestFilesOfAnotherJobAreInputs(t *testing.T) {
	left := *exitZero
	left.Outputs = []grid.File{{Path: "out/model.bin", Blob: grid.BlobID{7}, Size: 3},
		{Path: "out/log", Blob: grid.BlobID{8}}}
	r := alone(t)
	r.submit(jobID(1), with())
	r.submit(jobID(2), with(after(grid.AfterOK, jobID(1)), reads("out/model.bin", "in/m")))
	r.submit(jobID(3), with(after(grid.AfterAny, jobID(1)), reads("out/other", "m")))
	r.end(jobID(1), 0, &left)
	for _, f := range r.fx.Fetches {
		r.step(grid.Event{Kind: grid.EvFetched, Attempt: f.Attempt})
	}
	var got []grid.File
	for len(r.fx.Fetches) > 0 || len(r.fx.Starts) > 0 {
		if len(r.fx.Starts) > 0 {
			got = r.fx.Starts[0].Inputs
			break
		}
		f := r.fx.Fetches[0]
		if len(f.Files) != 1 || f.Files[0].Blob != (grid.BlobID{7}) {
			t.Fatalf("fetches %+v, want the model alone", f.Files)
		}
		r.step(grid.Event{Kind: grid.EvFetched, Attempt: f.Attempt})
	}
	if len(got) != 1 || got[0] != (grid.File{Path: "in/m", Blob: grid.BlobID{7}, Size: 3}) {
		t.Errorf("starts with %+v, want in/m with the content of out/model.bin", got)
	}
	if v, _ := r.n.Job(jobID(3)); !v.Cancelled || !strings.Contains(v.Stopped, `left no file "out/other"`) {
		t.Errorf("without its file: %+v", v)
	}
}

// A job that nobody knows is not waited for for ever, and none waits for itself.
func TestUnknownJobIsNotWaitedFor(t *testing.T) {
	r := alone(t)
	r.submit(jobID(2), with(after(grid.AfterOK, jobID(1))))
	if v, _ := r.n.Job(jobID(2)); !v.Cancelled || !strings.Contains(v.Stopped, "is not known any more") {
		t.Errorf("%+v", v)
	}
	r.submit(jobID(3), with(after(grid.AfterOK, jobID(3))))
	if len(r.fx.Replies) != 1 || !strings.Contains(r.fx.Replies[0].Err, "is to follow itself") {
		t.Errorf("answered with %+v", r.fx.Replies)
	}
}

// A job that follows another at any end starts once most of those that kept that one say that it is over, also if the
// rest has gone for good, who are not asked without a pause meanwhile. One of them alone is not believed.
func TestMostSayThatAJobIsOver(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Policy = "local" })
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	other := grid.JobID{Origin: thirdID, Nonce: [10]byte{5}}
	r.submit(jobID(1), with(func(s *grid.JobSpec) {
		s.After.Jobs = []grid.Dependency{{Job: other, Members: []grid.NodeID{fastID, slowID, thirdID}}}
	}))
	// answer has them answer for ten minutes, and returns how often they are asked.
	answer := func(fast grid.RegisterAnswer) (asked int) {
		for end := r.now.Add(10 * time.Minute); r.now < end && len(r.running(jobID(1))) == 0; {
			q := r.sent(grid.KindAwait)
			if len(q) == 0 {
				r.pass(end.Sub(r.now), grid.TimerAwait)
				continue
			}
			asked++
			m := grid.RegisterMessage{Job: other, Seq: q[0].Msg.Register.Seq, Answer: grid.RegisterGone}
			if q[0].To == fastID {
				m.Answer = fast
			}
			r.deliver(q[0].To, grid.KindAwaited, func(x *grid.Message) { x.Register = m })
		}
		return asked
	}
	if n := answer(grid.RegisterUnknown); n < 4 || n > 20 || len(r.running(jobID(1))) > 0 {
		t.Errorf("asked %d times in ten minutes, and task %v runs: want pauses, and none on one node's word", n,
			r.running(jobID(1)))
	}
	if answer(grid.RegisterGone); len(r.running(jobID(1))) != 1 {
		t.Error("it does not run, though two of three say that the other is over")
	}
}

// awaited tells how a remote job has ended, as an answer to a question.
func (r *rig) awaited(from grid.NodeID, q *grid.RegisterMessage, exit int32) {
	r.t.Helper()
	job, seq := q.Job, q.Seq
	r.deliver(from, grid.KindAwaited, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: job, Seq: seq, Answer: grid.RegisterOK, Done: true, Count: 1,
			Entries: []grid.Entry{{Index: grid.MaxCount, Result: &grid.Result{Cause: grid.Exited, Exit: exit}}}}
	})
}

// The end of a remote job counts if one of those that keep it says so and was asked, and once a majority of the own
// register has it: the task starts then, and not before.
func TestRemoteEndIsCommittedBeforeRelease(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Members, c.Policy = 3, "local" })
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	other := grid.JobID{Origin: fastID, Nonce: [10]byte{5}}
	r.submit(jobID(1), with(after(grid.AfterOK, other)))
	var asked []grid.Send
	for end := r.now.Add(time.Minute); len(asked) == 0 && r.now < end; r.pass(submissionTick) {
		asked = r.sent(grid.KindAwait)
		for _, who := range []grid.NodeID{fastID, slowID} {
			r.answerKeepalive(who)
			asked = append(asked, r.sent(grid.KindAwait)...)
		}
	}
	if len(asked) == 0 || asked[0].To != fastID || asked[0].Msg.Register.Job != other {
		t.Fatalf("asks %+v, want the other job's origin", asked)
	}
	q := asked[0].Msg.Register
	accept := func() {
		for range 5 {
			for _, s := range r.sent(grid.KindWrite) {
				if g := s.Msg.Register; s.To == slowID {
					r.deliver(slowID, grid.KindWriteAck, func(m *grid.Message) {
						m.Register = grid.RegisterMessage{Job: jobID(1), Epoch: g.Epoch, Seq: g.Seq, Answer: grid.RegisterOK}
					})
				}
			}
			r.pass(time.Second, grid.TimerRegister)
		}
	}
	accept()
	r.awaited(slowID, &q, 0)
	forged := q
	forged.Seq++
	r.awaited(fastID, &forged, 0)
	if accept(); len(r.running(jobID(1))) > 0 {
		t.Fatal("runs since a node said so that does not keep the other job, or that was not asked")
	}
	r.awaited(fastID, &q, 0)
	if len(r.running(jobID(1))) > 0 {
		t.Fatal("runs before a majority of its register has the end")
	}
	for _, s := range r.sent(grid.KindWrite) {
		if g := s.Msg.Register; s.To == slowID {
			r.deliver(slowID, grid.KindWriteAck, func(m *grid.Message) {
				m.Register = grid.RegisterMessage{Job: jobID(1), Epoch: g.Epoch, Seq: g.Seq, Answer: grid.RegisterOK}
			})
			break
		}
	}
	if accept(); len(r.running(jobID(1))) != 1 {
		t.Errorf("does not run: %+v", r.task(jobID(1)))
	}
}

// Who asks about a job is answered, at once and when it ends; about a job under access: owner only those that keep it
// are. An ended job is kept while it is asked about.
func TestWhoAsksIsTold(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Capacity.CPU, c.Keep, c.Policy = 8*grid.CPU, 1, "local" })
	r.join(fastID, 1, "linux")
	ask := func(id grid.JobID, next uint32, each bool) grid.RegisterMessage {
		r.deliver(fastID, grid.KindAwait, func(m *grid.Message) {
			m.Register = grid.RegisterMessage{Job: id, Seq: 77, Next: next, More: each}
		})
		return r.one(grid.KindAwaited).Msg.Register
	}
	if a := ask(jobID(9), 0, false); a.Answer != grid.RegisterUnknown {
		t.Errorf("about an unknown job: %+v", a)
	}
	r.submit(jobID(1), with(count(3)))
	if a := ask(jobID(1), 0, false); a.Answer != grid.RegisterOK || a.Done || len(a.Entries) > 0 {
		t.Errorf("about one that runs: %+v", a)
	}
	ask(jobID(1), 0, true)
	r.end(jobID(1), 1, exitZero)
	if a := r.one(grid.KindAwaited).Msg.Register; len(a.Entries) != 1 || a.Entries[0].Index != 1 || a.Done {
		t.Errorf("when a task has ended: %+v, want its end", a)
	}
	if a := ask(jobID(1), 2, true); len(a.Entries) > 0 {
		t.Errorf("from task 2 on: %+v, want no end", a)
	}
	r.end(jobID(1), 0, exitOne)
	r.end(jobID(1), 2, exitZero)
	ask(jobID(1), 0, false)
	for i := byte(2); i < 6; i++ {
		r.submit(jobID(i), with())
		r.end(jobID(i), 0, exitZero)
	}
	if a := ask(jobID(1), 0, false); !a.Done || len(a.Entries) != 1 || a.Entries[0].Result.Exit != 1 {
		t.Errorf("about one that is over and is asked about: %+v, want that it failed", a)
	}
	if r.knows(jobID(3)) {
		t.Error("one that nobody asks about is kept, though there is room for one task")
	}
	r.now = r.now.Add(time.Hour)
	r.submit(jobID(7), with())
	if r.end(jobID(7), 0, exitZero); r.knows(jobID(1)) {
		t.Error("it is kept an hour after it was asked about")
	}
	r.submit(jobID(8), with(ownerOnly))
	if a := ask(jobID(8), 0, false); a.Answer != grid.RegisterUnknown {
		t.Errorf("about a job that only its owner may see: %+v", a)
	}
}

// A task that waits in vain ends also if its job waited for something else when that was known.
func TestVainTaskEndsOnceItsJobIsReleased(t *testing.T) {
	r := alone(t)
	r.submit(jobID(1), with())
	r.submit(jobID(2), with(count(2)))
	r.submit(jobID(3), with(count(2), after(grid.AfterOK, jobID(1)), after(grid.AfterEach, jobID(2))))
	r.end(jobID(2), 0, exitOne)
	r.end(jobID(2), 1, exitZero)
	if v, _ := r.n.Job(jobID(3)); v.Ended > 0 || r.placed(jobID(3)) > 0 || !v.Held {
		t.Fatalf("%+v: want it held", v)
	}
	r.end(jobID(1), 0, exitZero)
	if got := r.running(jobID(3)); len(got) != 1 || got[0] != 1 {
		t.Errorf("tasks %v run, want 1", got)
	}
	if v := r.task(jobID(3)); v.State != grid.Ended || v.Result.Cause != grid.Cancelled {
		t.Errorf("task 0, whose task has failed, is %v: %+v", v.State, v.Result)
	}
}

// A job that is forgotten leaves no record of what it waited for.
func TestForgottenJobLeavesNoDependency(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Capacity.CPU, c.Keep, c.Policy = 8*grid.CPU, 1, "local" })
	r.submit(jobID(1), with())
	r.submit(jobID(2), with(after(grid.AfterOK, jobID(1))))
	r.submit(jobID(3), with(after(grid.AfterEach, jobID(1))))
	r.end(jobID(1), 0, exitZero)
	r.end(jobID(2), 0, exitZero)
	r.end(jobID(3), 0, exitZero)
	r.now = r.now.Add(time.Hour)
	r.submit(jobID(4), with())
	r.end(jobID(4), 0, exitZero)
	for key := range r.disk {
		if strings.Contains(key, jobID(2).String()) || strings.Contains(key, jobID(3).String()) {
			t.Errorf("the record of %s is left", key)
		}
	}
}
