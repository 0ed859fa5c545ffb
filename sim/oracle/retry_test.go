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
