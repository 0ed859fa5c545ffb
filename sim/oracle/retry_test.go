package oracle

import (
	"strings"
	"testing"

	"skep/grid"
)

// ended has task 0 end with its first attempt at node 1.
func (s *scene) ended() {
	s.saveJob()
	s.accept(1, 0, 1, false)
	s.start(1, 0, 1)
	s.End(1, 0, s.id(0, 1).Attempt)
	s.saveTask(0, 1, grid.Ended)
}

// retryOf is the record by which task 0 is run again after that end.
func (s *scene) retryOf() grid.Record {
	return grid.Record{Kind: grid.RecEntry, Entry: grid.EntryRecord{Committed: true, Held: true,
		TaskRecord: grid.TaskRecord{ID: s.id(0, 1), State: grid.Pending, Worker: s.w.ID(1)},
		Open: &grid.Entry{Epoch: 1, Attempt: s.id(0, 1).Attempt, Worker: s.w.ID(1), Round: 1, Again: 1, RetriedAt: 2,
			RetryEpoch: 1, Result: &grid.Result{Cause: grid.Exited}}}}
}

func (s *scene) decideRetry() { s.Step(0, &grid.Effects{Saves: []grid.Record{s.retryOf()}}) }

func (s *scene) saveRetry() { s.Save(0, []grid.Record{s.retryOf()}) }

// again offers, accepts and starts the second attempt of task 0.
func (s *scene) again() {
	m := grid.Message{Kind: grid.KindOffer}
	m.Offer.ID = s.id(0, 2)
	s.Step(0, &grid.Effects{Sends: []grid.Send{{Msg: m}}})
	s.Send(0, &m)
	s.accept(1, 0, 2, false)
	s.start(1, 0, 2)
}

const taskCaller = 1 + CancelTaskCaller // cancels task 0

func TestRulesOfRetries(t *testing.T) {
	for want, play := range map[string]func(*scene){
		"": func(s *scene) { // who cancelled the task before is told so late
			s.ended()
			s.Asked(0, taskCaller)
			s.decideRetry()
			s.Answer(0, &grid.Reply{Caller: taskCaller})
			s.saveRetry()
			s.again()
			s.End(1, 0, s.id(0, 2).Attempt)
			r := grid.SoleEntry(&grid.TaskRecord{ID: s.id(0, 2), State: grid.Ended, Worker: s.w.ID(1),
				Result: &grid.Result{Cause: grid.Exited}})
			r.Round, r.RetriedAt, r.RetryEpoch = 2, 2, 1
			s.Save(0, []grid.Record{{Kind: grid.RecEntry, Entry: r}})
		},
		" ": func(s *scene) { // who cancelled the task while its retry was not durable is told so before that is
			s.ended()
			s.decideRetry()
			s.Asked(0, taskCaller)
			s.Answer(0, &grid.Reply{Caller: taskCaller})
			s.saveRetry()
			s.again()
		},
		"  ": func(s *scene) { // a backup attempt of the attempt that has ended starts late
			s.spec.Idempotent, s.spec.Retries = true, 1
			s.saveJob()
			r := grid.TaskRecord{ID: s.id(0, 1), State: grid.Placed, Worker: s.w.ID(1),
				Backup: &grid.BackupRecord{Attempt: s.id(0, 2).Attempt, Worker: s.w.ID(2)}}
			s.Save(0, []grid.Record{{Kind: grid.RecEntry, Entry: grid.SoleEntry(&r)}})
			s.accept(2, 0, 2, false)
			s.ended()
			s.decideRetry()
			s.start(2, 0, 2)
		},
		"that it is run again is not durable": func(s *scene) {
			s.ended()
			s.decideRetry()
			s.again()
		},
		"was told that it starts no more": func(s *scene) {
			s.ended()
			s.decideRetry()
			s.saveRetry()
			s.Asked(0, taskCaller)
			s.Answer(0, &grid.Reply{Caller: taskCaller})
			s.again()
		},
		"which must run at most once": func(s *scene) {
			s.spec.Rules.OnFailure = grid.OnFailure{}
			s.ended()
			s.decideRetry()
		},
		"0 failures, and 2 to 2 are recorded": func(s *scene) { // the retry is forgotten
			s.ended()
			s.decideRetry()
			s.saveRetry()
			s.saveTask(0, 1, grid.Ended)
		},
	} {
		s := newScene()
		play(s)
		switch {
		case strings.TrimSpace(want) == "" && len(s.w.said) > 0:
			t.Errorf("a life without fault: %q", s.w.said)
		case strings.TrimSpace(want) != "" && (len(s.w.said) != 1 || !strings.Contains(s.w.said[0], want)):
			t.Errorf("found %q, want it once: %q", s.w.said, want)
		}
	}
}

// A world is not done before who had a task run again is answered, and that task has ended.
func TestRetriesMustEnd(t *testing.T) {
	s := newScene()
	s.ended()
	s.saveTask(1, 1, grid.Ended)
	s.accept(1, 0, 1, true)
	s.Settle()
	if !s.Done() {
		t.Fatalf("not done: %s", s.Unfinished())
	}
	s.Asked(0, 1+RetryCaller)
	if s.Done() || !strings.Contains(s.Unfinished(), "was not answered") {
		t.Errorf("done %v before the answer: %s", s.Done(), s.Unfinished())
	}
	s.decideRetry()
	s.saveRetry()
	s.Answer(0, &grid.Reply{Caller: 1 + RetryCaller})
	if s.Done() || !strings.Contains(s.Unfinished(), "1 tasks have not ended") {
		t.Errorf("done %v before the end: %s", s.Done(), s.Unfinished())
	}
	s.Asked(0, 1+RetryCaller)
	if s.Stopped(0); s.awaitsAnswer() {
		t.Error("an answer is awaited from a node that is down")
	}
}

// A job that was opened for a retry must end while a majority of its members takes part. One that had evicted it before
// has only a tombstone, and answers nothing.
func TestOpenedJobEndsWithTheMembersThatHaveKeptIt(t *testing.T) {
	register := func(s *scene, opened uint32) grid.Record {
		return grid.Record{Kind: grid.RecRegister, Register: grid.RegisterRecord{ID: s.w.JobID(0), Spec: s.spec, Epoch: 1,
			Members: []grid.NodeID{s.w.ID(0), s.w.ID(1), s.w.ID(2)}, Owner: s.w.ID(0), Opened: opened}}
	}
	tombstone := func(s *scene, opened uint32) grid.Record {
		return grid.Record{Kind: grid.RecTombstone, Tombstone: grid.TombstoneRecord{ID: s.w.JobID(0), Opened: opened}}
	}
	forgets := func(s *scene, opened uint32) {
		r := register(s, 0)
		r.Delete = true
		s.Save(2, []grid.Record{tombstone(s, opened), r})
	}
	for _, c := range []struct {
		name string
		play func(s *scene)
		done bool
	}{
		{"two have kept it", func(s *scene) { forgets(s, 0) }, false},
		{"one has kept it", func(s *scene) {
			forgets(s, 0)
			s.Stopped(1)
		}, true},
		{"the third has evicted what was opened", func(s *scene) {
			forgets(s, 1)
			s.Stopped(1)
		}, false},
	} {
		s := newScene()
		for i := range int32(3) {
			s.Save(i, []grid.Record{register(s, 0)})
		}
		for i := range int32(2) {
			s.Save(i, []grid.Record{register(s, 1)})
		}
		s.Answer(0, &grid.Reply{Caller: 1})
		c.play(s)
		if s.Settle(); s.Done() != c.done {
			t.Errorf("%s: done %v; %s", c.name, s.Done(), s.Unfinished())
		}
	}
	s := newScene() // it is evicted, and opened, after the last fault
	for i := range int32(3) {
		s.Save(i, []grid.Record{register(s, 0)})
	}
	s.Answer(0, &grid.Reply{Caller: 1})
	s.Stopped(1)
	if s.Settle(); s.Done() {
		t.Error("a majority has it, and it need not end")
	}
	forgets(s, 0)
	if s.Save(0, []grid.Record{register(s, 1)}); !s.Done() {
		t.Errorf("one member takes part: %s", s.Unfinished())
	}
}
