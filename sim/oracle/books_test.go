package oracle

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// world is the least that the books need: nodes whose clocks show its time, and every file on every disk.
type world struct {
	now  grid.Time
	said []string
}

func (w *world) Time() grid.Time                 { return w.now }
func (w *world) Clock(int32) grid.Time           { return w.now }
func (w *world) ID(i int32) grid.NodeID          { return grid.NodeID{byte(i + 1)} }
func (w *world) Index(id grid.NodeID) int32      { return int32(id[0]) - 1 }
func (w *world) HasBlob(int32, grid.BlobID) bool { return true }
func (w *world) Fail(_ int32, what string)       { w.said = append(w.said, what) }
func (w *world) JobID(n int32) (id grid.JobID) {
	id.Origin = w.ID(0)
	binary.BigEndian.PutUint32(id.Nonce[:], uint32(n))
	return id
}

// silent is a member that knows nothing.
type silent struct{}

func (silent) Jobs(dst []node.JobView) []node.JobView { return dst }
func (silent) Stats(grid.Time) node.Stats             { return node.Stats{} }

// scene is a world of three nodes of one core with one job of two tasks, submitted to node 0.
type scene struct {
	*Books
	w    *world
	spec *grid.JobSpec
}

func newScene() *scene {
	s := &scene{w: &world{}, spec: &grid.JobSpec{Class: "a", Command: []string{"x"}, Count: 2,
		Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}},
		Rules: grid.Rules{OnFailure: grid.OnFailure{Retry: 1, Rerun: true}}}}
	s.Books = New(s.w, 3, []Submission{{Origin: 0, Spec: s.spec}})
	for i := range int32(3) {
		s.Started(i, silent{}, grid.Resources{CPU: grid.CPU})
	}
	return s
}

func (s *scene) id(task, n uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: s.w.JobID(0), Index: task}, Attempt: grid.Attempt{Epoch: 1, N: n}}
}

func (s *scene) saveJob() {
	s.Save(0, []grid.Record{{Kind: grid.RecRegister, Register: grid.SoleRegister(s.w.JobID(0), s.spec, 0)}})
}

// saveTask records a task's state at its origin; its end with exit 0.
func (s *scene) saveTask(task, n uint32, state grid.TaskState) {
	r := grid.TaskRecord{ID: s.id(task, n), State: state, Worker: s.w.ID(1)}
	if state == grid.Ended {
		r.Result = &grid.Result{Cause: grid.Exited}
	}
	s.Save(0, []grid.Record{{Kind: grid.RecEntry, Entry: grid.SoleEntry(&r)}})
}

// fails records a failure of a task after which it goes on.
func (s *scene) fails(task, n, round uint32, exit int32) {
	r := grid.Record{Kind: grid.RecEntry, Entry: grid.EntryRecord{Committed: true, Held: true,
		TaskRecord: grid.TaskRecord{ID: s.id(task, n), State: grid.Pending, Worker: s.w.ID(1)},
		Open: &grid.Entry{Index: task, Epoch: 1, Attempt: s.id(task, n).Attempt, Worker: s.w.ID(1), Round: round,
			Again: time.Minute, Result: &grid.Result{Cause: grid.Exited, Exit: exit}}}}
	s.Step(0, &grid.Effects{Saves: []grid.Record{r}})
	s.Save(0, []grid.Record{r})
}

func (s *scene) accept(i int32, task, n uint32, deleted bool) {
	s.Save(i, []grid.Record{{Kind: grid.RecWork, Work: grid.WorkRecord{ID: s.id(task, n), Spec: s.spec}, Delete: deleted}})
}

func (s *scene) start(i int32, task, n uint32) bool {
	_, k, ok := s.Start(i, &grid.Start{Attempt: s.id(task, n), Spec: s.spec})
	if ok {
		s.Executes(k)
	}
	return ok
}

func (s *scene) send(i int32, kind grid.Kind, task, n uint32) {
	s.Send(i, &grid.Message{Kind: kind, Attempts: []grid.AttemptID{s.id(task, n)},
		Result: &grid.Result{Cause: grid.Exited}})
}

// handBack has a node hand its attempt of task 0 back for node 2, saved before or not.
func (s *scene) handBack(i int32, saved bool) {
	if saved {
		s.Save(i, []grid.Record{{Kind: grid.RecWork, Work: grid.WorkRecord{ID: s.id(0, 1), Spec: s.spec,
			State: grid.WorkFinished, HandedBack: &grid.HandBack{Why: grid.WhyPulled, Puller: s.w.ID(2)}}}})
	}
	s.Send(i, &grid.Message{Kind: grid.KindRefuse, Attempts: []grid.AttemptID{s.id(0, 1)},
		Refusal: grid.Refusal{Why: grid.WhyPulled}})
}

func TestRules(t *testing.T) {
	for want, play := range map[string]func(*scene){
		"": func(s *scene) { // a task's whole life
			s.saveJob()
			s.Answer(0, &grid.Reply{Caller: 1})
			s.saveTask(0, 1, grid.Placed)
			s.accept(1, 0, 1, false)
			s.send(1, grid.KindAccept, 0, 1)
			s.start(1, 0, 1)
			s.End(1, 0, s.id(0, 1).Attempt)
			s.send(1, grid.KindResult, 0, 1)
			s.saveTask(0, 1, grid.Ended)
			s.send(0, grid.KindResultAck, 0, 1)
			s.accept(1, 0, 1, true)
		},
		"in the step that stops it": func(s *scene) {
			s.saveJob()
			s.Step(1, &grid.Effects{Starts: []grid.Start{{Attempt: s.id(0, 1)}}, Stops: []grid.Stop{{Attempt: s.id(0, 1)}}})
		},
		"answers caller 7, who asked nothing": func(s *scene) { s.Answer(0, &grid.Reply{Caller: 7}) },
		"of which nothing is on its disk":     func(s *scene) { s.Answer(0, &grid.Reply{Caller: 1}) },
		"whose job it has not saved":          func(s *scene) { s.saveTask(0, 1, grid.Placed) },
		"twice, attempts": func(s *scene) {
			s.saveJob()
			s.saveTask(0, 1, grid.Ended)
			s.saveTask(0, 1, grid.Ended)
		},
		"which has ended, to": func(s *scene) {
			s.saveJob()
			s.saveTask(0, 1, grid.Ended)
			s.saveTask(0, 1, grid.Placed)
		},
		"goes back in": func(s *scene) {
			s.saveJob()
			s.saveTask(0, 2, grid.Placed)
			s.saveTask(0, 1, grid.Placed)
		},
		"which n1 has accepted": func(s *scene) {
			s.accept(1, 0, 1, false)
			s.accept(2, 0, 1, false)
		},
		"starts attempt 1.1 of task 0 of submission 0 (from n0), which is not on its disk": func(s *scene) {
			s.start(1, 0,
				1)
		},
		"which runs on n1": func(s *scene) {
			s.accept(1, 0, 1, false)
			s.start(1, 0, 1)
			s.start(1, 0, 1)
		},
		"and so uses": func(s *scene) {
			for task := range uint32(2) {
				s.accept(1, task, 1, false)
				s.start(1, task, 1)
			}
		},
		"which must run at most once": func(s *scene) {
			s.accept(1, 0, 1, false)
			s.start(1, 0, 1)
			s.End(1, 0, s.id(0, 1).Attempt)
			s.accept(1, 0, 2, false)
			s.start(1, 0, 2)
		},
		"was told that nothing of it starts any more": func(s *scene) {
			s.accept(1, 0, 1, false)
			s.Asked(0, 1+CancelCaller)
			s.Answer(0, &grid.Reply{Caller: 1 + CancelCaller})
			s.start(1, 0, 1)
		},
		"accepts attempt": func(s *scene) { s.send(1, grid.KindAccept, 0, 1) },
		"which was submitted elsewhere": func(s *scene) {
			s.Save(1, []grid.Record{{Kind: grid.RecRegister, Register: grid.SoleRegister(s.w.JobID(0), s.spec, 0)}})
		},
		"as something else than was submitted": func(s *scene) {
			s.Save(0, []grid.Record{{Kind: grid.RecRegister, Register: grid.SoleRegister(s.w.JobID(0), &grid.JobSpec{Count: 2},
				0)}})
		},
		"of unknown kind 99": func(s *scene) { s.Save(0, []grid.Record{{Kind: 99}}) },
		"without a result": func(s *scene) {
			s.saveJob()
			s.Save(0, []grid.Record{{Kind: grid.RecEntry,
				Entry: grid.SoleEntry(&grid.TaskRecord{ID: s.id(0, 1), State: grid.Ended})}})
		},
		"which is cancelled": func(s *scene) {
			s.Asked(0, 1+CancelCaller)
			s.Answer(0, &grid.Reply{Caller: 1 + CancelCaller})
			m := grid.Message{Kind: grid.KindOffer}
			m.Offer.ID = s.id(0, 1)
			s.Step(0, &grid.Effects{Sends: []grid.Send{{Msg: m}}})
		},
		"says of itself what cannot be": func(s *scene) {
			s.Advertise(1, []grid.AdEntry{{Ad: &grid.Ad{Node: s.w.ID(1), Speed: -1}}})
		},
		"its disk does not say that it never starts": func(s *scene) {
			s.accept(1, 0, 1, false)
			s.handBack(2, false)
			s.handBack(1, true)
		},
		"which it has handed back": func(s *scene) {
			s.accept(1, 0, 1, false)
			s.handBack(1, true)
			s.start(1, 0, 1)
		},
		"again after failure 2, and its job allows 1": func(s *scene) {
			s.saveJob()
			s.fails(0, 1, 0, 1)
			s.fails(0, 2, 1, 1)
		},
		"which succeeded": func(s *scene) {
			s.saveJob()
			s.fails(0, 1, 0, 0)
		},
		"records attempt 1.1 as failure 2 of task 0 of submission 0 (from n0), after attempt 1.1": func(s *scene) {
			s.saveJob()
			s.spec.Rules.OnFailure.Retry = 2
			s.fails(0, 1, 0, 1)
			s.fails(0, 1, 1, 1)
		},
		"after 0 failures, and 1 to 1 are recorded": func(s *scene) {
			s.saveJob()
			s.fails(0, 1, 0, 1)
			s.saveTask(0, 2, grid.Ended)
		},
		"and it was to wait 1m0s": func(s *scene) {
			s.saveJob()
			s.accept(1, 0, 1, false)
			s.start(1, 0, 1)
			s.End(1, 0, s.id(0, 1).Attempt)
			s.fails(0, 1, 0, 1)
			s.accept(1, 0, 2, false)
			s.start(1, 0, 2)
		},
		"which has ended with attempt 1.1": func(s *scene) {
			s.saveJob()
			s.saveTask(0, 1, grid.Ended)
			m := grid.Message{Kind: grid.KindOffer}
			m.Offer.ID = s.id(0, 2)
			s.Step(0, &grid.Effects{Sends: []grid.Send{{Msg: m}}})
		},
		"acknowledges the result": func(s *scene) {
			s.saveJob()
			s.saveTask(0, 1, grid.Placed)
			s.send(0, grid.KindResultAck, 0, 1)
		},
	} {
		s := newScene()
		play(s)
		switch {
		case want == "" && len(s.w.said) > 0:
			t.Errorf("a life without fault: %q", s.w.said)
		case want != "" && (len(s.w.said) != 1 || !strings.Contains(s.w.said[0], want)):
			t.Errorf("found %q, want it once: %q", s.w.said, want)
		}
	}
}

func TestRecordsAreThoseThatWereSaved(t *testing.T) {
	s := newScene()
	s.saveJob()
	s.saveTask(1, 3, grid.Placed)
	s.accept(0, 0, 1, false)
	s.accept(0, 1, 3, false)
	s.accept(0, 0, 1, true)
	s.Save(0, []grid.Record{{Kind: grid.RecClass, Class: grid.ClassRecord{Class: "b"}}, {Kind: grid.RecClass,
		Class: grid.ClassRecord{Class: "a"}}})
	s.Stopped(0)
	var got []string
	for _, r := range s.Records(0, nil) {
		switch r.Kind {
		case grid.RecRegister:
			got = append(got, "job")
		case grid.RecEntry:
			got = append(got, "task "+r.Entry.ID.Attempt.String())
		case grid.RecWork:
			got = append(got, "work "+r.Work.ID.Attempt.String())
		case grid.RecClass:
			got = append(got, "class "+r.Class.Class)
		}
	}
	if all := strings.Join(got, ", "); all != "job, task 1.3, work 1.3, class a, class b" {
		t.Errorf("records %s", all)
	}
	if n := len(s.Records(1, nil)); n != 0 {
		t.Errorf("a node that saved nothing has %d records", n)
	}
}

// The end needs the tasks' ends, no attempt that runs, and no work record of a job that must end; not those of a job
// whose origin is lost.
func TestDone(t *testing.T) {
	s := newScene()
	s.saveJob()
	s.accept(1, 0, 1, false)
	s.start(1, 0, 1)
	s.Settle()
	if s.Done() || !strings.Contains(s.Unfinished(), "2 tasks have not ended, 1 run, 1 work records") {
		t.Errorf("done %v: %s", s.Done(), s.Unfinished())
	}
	s.saveTask(0, 1, grid.Ended)
	s.saveTask(1, 1, grid.Ended)
	s.End(1, 0, s.id(0, 1).Attempt)
	if s.Done() {
		t.Error("done, and a work record is kept")
	}
	s.accept(1, 0, 1, true)
	if !s.Done() {
		t.Errorf("not done: %s", s.Unfinished())
	}
	lost := newScene()
	lost.saveJob()
	lost.Stopped(0)
	lost.Lost(0)
	if lost.Settle(); !lost.Done() {
		t.Errorf("the origin is lost: %s", lost.Unfinished())
	}
}
