package mapping

import (
	"testing"
	"time"

	"skep/grid"
)

const second = grid.Time(time.Second)

// events is those of a policy with an interval of 10 s and a count of 3, which had one at 100 s.
func events() *Events {
	var s Set
	e := s.Add("min_min", 1, Config{MappingInterval: 10 * time.Second, MappingCount: 3}, nil)
	e.Begin(100 * second)
	e.Polling = false
	return e
}

// The first task begins an event at once.
func TestFirstEventIsAtOnce(t *testing.T) {
	var s Set
	e := s.Add("min_min", 1, Config{MappingInterval: 10 * time.Second}, nil)
	if at := e.DueAt(0, true); at != grid.Never {
		t.Errorf("due at %v before anything came, want never", at)
	}
	if e.Came(1); e.DueAt(0, true) > 0 {
		t.Errorf("due at %v, want now", e.DueAt(0, true))
	}
}

// By interval: news wait for the interval since the last event. By count: where more tasks come than the count, they
// do not.
func TestEventsByIntervalOrCount(t *testing.T) {
	e := events()
	now := 102 * second
	if at := e.DueAt(now, true); at != grid.Never {
		t.Errorf("due at %v without news, want never", at)
	}
	for tasks := 1; tasks <= 3; tasks++ {
		if e.Came(1); e.DueAt(now, true) != 110*second {
			t.Errorf("due at %v after %d tasks, want at 110 s", e.DueAt(now, true), tasks)
		}
	}
	if e.Came(1); e.DueAt(now, true) != now {
		t.Errorf("due at %v after 4 tasks, want now", e.DueAt(now, true))
	}
	if e.Begin(now); e.DueAt(now, true) != grid.Never || !e.Polling {
		t.Error("an event is due while one polls")
	}
	e.Polling = false
	if e.Came(1); e.DueAt(now, true) != 112*second {
		t.Errorf("due at %v, want the count to begin anew with each event", e.DueAt(now, true))
	}
}

// What has not begun is mapped again without news, an interval before the first of it would begin, so that it is sent
// ahead; but no sooner than an interval from now, and of what begins later than the longest pause as if it began then.
func TestWhatHasNotBegunIsMappedAgain(t *testing.T) {
	for begins, want := range map[float64]grid.Time{5: 110, 15: 110, 25: 115, 100: 120, 1e12: 120} {
		e := events()
		if e.End(100*second, begins); e.DueAt(100*second, true) != want*second {
			t.Errorf("the first begins in %g s: due at %v, want %d s", begins, e.DueAt(100*second, true), want)
		}
		if e.Came(1); e.DueAt(100*second, true) != min(want, 110)*second {
			t.Errorf("the first begins in %g s, one came: due at %v", begins, e.DueAt(100*second, true))
		}
	}
}

// A task that was mapped before and waits again is no news, unless no event is expected.
func TestATaskThatIsBack(t *testing.T) {
	e := events()
	e.End(100*second, 25)
	if e.Back(); e.DueAt(100*second, true) != 115*second {
		t.Errorf("due at %v, want as before", e.DueAt(100*second, true))
	}
	e = events()
	if e.Back(); e.DueAt(100*second, true) != 110*second {
		t.Errorf("due at %v where none was expected, want after the interval", e.DueAt(100*second, true))
	}
}

// Where there was no room for all that begin, the next event comes as soon as there is.
func TestFullWaitsForRoom(t *testing.T) {
	e := events()
	e.Full()
	e.End(100*second, 25)
	if at := e.DueAt(103*second, false); at != 115*second {
		t.Errorf("without room due at %v, want as the plan says", at)
	}
	if at := e.DueAt(103*second, true); at != 103*second {
		t.Errorf("with room due at %v, want now", at)
	}
	e.Begin(103 * second)
	e.Polling = false
	if at := e.DueAt(103*second, true); at != grid.Never {
		t.Errorf("due at %v after the next event, want never", at)
	}
}

// An answer that comes after an event without any is news: the next event is an interval after the last one. One to an
// earlier event, or of a node that was not asked, is none.
func TestALateAnswerIsNews(t *testing.T) {
	a, e := grid.NodeID{1}, events()
	e.Asked = append(e.Asked, a)
	id := uint64(e.round)
	if e.Late(a, id) || e.DueAt(101*second, true) != grid.Never {
		t.Error("an answer is news after an event that had some")
	}
	for range 6 {
		e.Missed(100 * second)
	}
	if e.Late(grid.NodeID{2}, id) || e.Late(a, id+1) || e.DueAt(101*second, true) != 130*second {
		t.Errorf("due at %v, want at 130 s", e.DueAt(101*second, true))
	}
	if !e.Late(a, id) || e.DueAt(101*second, true) != 110*second {
		t.Errorf("due at %v after a late answer, want at 110 s", e.DueAt(101*second, true))
	}
}

// Events that nobody answers come after longer and longer pauses; one that is answered ends that.
func TestUnansweredEventsBackOff(t *testing.T) {
	e := events()
	for _, want := range []time.Duration{2, 4, 8, 16, 30, 30} {
		if e.Missed(100 * second); e.DueAt(100*second, true) != (100 * second).Add(want*time.Second) {
			t.Errorf("due at %v, want after %d s", e.DueAt(100*second, true), want)
		}
	}
	e.End(100*second, 25)
	e.Came(1)
	if e.Missed(100 * second); e.DueAt(100*second, true) != 102*second {
		t.Errorf("due at %v, want after 2 s again, with news too", e.DueAt(100*second, true))
	}
}

// There is one timer: a later one is not set while it is pending, and an earlier one is.
func TestOneTimer(t *testing.T) {
	e := events()
	var fx grid.Effects
	for _, at := range []grid.Time{grid.Never, 120, 130, 115} {
		if at != grid.Never {
			at *= second
		}
		e.Sleep(at, &fx)
	}
	if len(fx.Wakes) != 2 || fx.Wakes[0].At != 120*second || fx.Wakes[1].At != 115*second || !e.Expected() {
		t.Errorf("timers %v, want at 120 s and then at 115 s", fx.Wakes)
	}
	e.Woke(110 * second)
	if !e.Expected() {
		t.Error("a stale timer took the pending one")
	}
	if e.Woke(115 * second); e.Expected() {
		t.Error("the timer is still pending")
	}
}

// Policies that no task awaits are forgotten when there are many; one that polls or is awaited is not.
func TestManyPoliciesAreForgotten(t *testing.T) {
	var s Set
	always := func(string) bool { return true }
	for k := range uint64(most) {
		s.Add(string(rune('a'+k)), k+1, Defaults(), always)
	}
	s.All()[3].Polling = true
	if s.Add("more", 100, Defaults(), always); len(s.All()) != most+1 {
		t.Errorf("%d are left while tasks wait, want all", len(s.All()))
	}
	s.Add("one", 101, Defaults(), func(policy string) bool { return policy == "more" })
	if len(s.All()) != 3 || s.Get(4) == nil || s.Of("one") == nil || s.Of("more") == nil || s.Of("a") != nil {
		t.Errorf("%d are left, want the one that polls, the one that is awaited, and the new one", len(s.All()))
	}
	s.Changed()
	if at := s.Of("one").DueAt(0, true); at > 0 {
		t.Errorf("due at %v after a change of the nodes, want now", at)
	}
}
