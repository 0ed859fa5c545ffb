package oracle

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// runs has task 0 run with an attempt at node 1, so long, and be over so long after the world began.
func (s *scene) runs(n uint32, from, until time.Duration) {
	s.w.now = grid.Time(from)
	s.accept(1, 0, n, false)
	s.start(1, 0, n)
	s.w.now = grid.Time(until)
	s.End(1, 0, s.id(0, n).Attempt)
}

// unaffordable records that task 1 ends for want of a budget.
func (s *scene) unaffordable(text string) {
	r := grid.TaskRecord{ID: s.id(1, 0), State: grid.Ended, Result: &grid.Result{Cause: grid.Unaffordable, Error: text}}
	s.Save(0, []grid.Record{{Kind: grid.RecEntry, Entry: grid.SoleEntry(&r)}})
}

func TestRulesOfBudgets(t *testing.T) {
	const over = "whose job has used 1m20s in attempts whose ends are recorded, of 1m0s"
	rest := (time.Minute / forgettable).Seconds()
	for name, c := range map[string]struct {
		want string
		play func(*scene)
	}{
		"used up, and goes on": {over, func(s *scene) {
			s.runs(1, 0, 80*time.Second)
			s.fails(0, 1, 0, 1)
			s.runs(2, 160*time.Second, 161*time.Second)
			s.w.now = grid.Time(180 * time.Second)
			s.accept(1, 0, 3, false)
			s.start(1, 0, 3)
		}},
		"at once": {"", func(s *scene) { // a start lease was given before
			s.runs(1, 0, 80*time.Second)
			s.fails(0, 1, 0, 1)
			s.accept(2, 1, 1, false)
			s.start(2, 1, 1)
			s.w.now = grid.Time(89 * time.Second)
			s.End(2, 1, s.id(1, 1).Attempt)
			s.accept(2, 1, 2, false)
			s.start(2, 1, 2)
		}},
		"what may be forgotten": {"", func(s *scene) {
			s.runs(1, 0, time.Duration(60+rest)*time.Second)
			s.fails(0, 1, 0, 1)
			s.runs(2, 160*time.Second, 161*time.Second)
			s.runs(3, 260*time.Second, 261*time.Second)
		}},
		"suspended": {"", func(s *scene) {
			s.accept(1, 0, 1, false)
			s.start(1, 0, 1)
			s.Suspend(1, 0, s.id(0, 1).Attempt, true)
			s.w.now = grid.Time(80 * time.Second)
			s.Suspend(1, 0, s.id(0, 1).Attempt, false)
			s.End(1, 0, s.id(0, 1).Attempt)
			s.fails(0, 1, 0, 1)
			s.runs(2, 160*time.Second, 161*time.Second)
			s.runs(3, 260*time.Second, 261*time.Second)
		}},
		"not used": {"says that submission 0 has used its budget, 1m0s, and its attempts have used 5s at most",
			func(s *scene) {
				s.runs(1, 0, 5*time.Second)
				s.saveTask(0, 1, grid.Ended)
				s.unaffordable("unaffordable")
			}},
		"used": {"", func(s *scene) {
			s.runs(1, 0, 60*time.Second)
			s.saveTask(0, 1, grid.Ended)
			s.unaffordable("unaffordable")
		}},
		"by an owner that knows no more of the ends": {"", func(s *scene) { // another one does since
			s.runs(1, 0, 5*time.Second)
			r := grid.TaskRecord{ID: s.id(0, 1), State: grid.Ended, Result: &grid.Result{Cause: grid.Exited}}
			e := grid.SoleEntry(&r)
			e.Epoch++
			s.Save(0, []grid.Record{{Kind: grid.RecEntry, Entry: e}})
			s.w.now = grid.Time(60 * time.Second)
			s.unaffordable("unaffordable")
		}},
		"perhaps used": {"", func(s *scene) { // nobody knows for how long it ran
			s.accept(1, 0, 1, false)
			s.saveTask(0, 1, grid.Placed)
			s.w.now = grid.Time(60 * time.Second)
			s.unaffordable("unaffordable")
		}},
		"too little for one that is known": {"", func(s *scene) {
			s.runs(1, 0, 35*time.Second)
			s.saveTask(0, 1, grid.Ended)
			s.unaffordable("unaffordable, and the rest was not expected to suffice for a further attempt")
		}},
		"enough for one that is known": {"expects nothing more of submission 0, whose attempts have used 5s at most of 1m0s",
			func(s *scene) {
				s.runs(1, 0, 5*time.Second)
				s.saveTask(0, 1, grid.Ended)
				s.unaffordable("unaffordable, and the rest was not expected to suffice for a further attempt")
			}},
		"lost long ago": {"has used its budget, 1m0s, and its attempts have used 50s at most", func(s *scene) {
			s.Settle()
			s.runs(1, 0, 5*time.Second)
			s.w.now = grid.Time(10 * time.Minute)
			s.unaffordable("unaffordable")
		}},
		"too little for one that is not known": {"expects nothing more", func(s *scene) {
			s.unaffordable("unaffordable, and the rest was not expected to suffice for a further attempt")
		}},
		"still runs": {"still runs attempt 1.1", func(s *scene) {
			s.Settle()
			s.runs(1, 5*time.Second, 200*time.Second)
		}},
		"stopped": {"", func(s *scene) {
			s.Settle()
			s.runs(1, 100*time.Second, 175*time.Second)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.spec.Rules.Budget, s.spec.Retries = 60, 5
			s.saveJob()
			c.play(s)
			if got := strings.Join(s.w.said, "; "); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
	s := newScene()
	s.saveJob()
	s.unaffordable("unaffordable")
	if len(s.w.said) != 1 || !strings.Contains(s.w.said[0], "which has no budget, is unaffordable") {
		t.Errorf("of a job without a budget it says %q", s.w.said)
	}
}
