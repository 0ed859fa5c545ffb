package progress

import (
	"testing"
	"time"

	"skep/grid"
)

func attempt(n uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Index: n}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
}

// beat returns the beat that is sent next for attempts that run.
func beat(o *Outbox, ids ...grid.AttemptID) *grid.Message {
	m := &grid.Message{Kind: grid.KindBeat}
	for _, id := range ids {
		o.AddBeat(m, id, grid.Report{})
	}
	return m
}

// A report is sent with the next beat, and again only now and then: an attempt that says nothing adds nothing.
func TestReportsRideOnBeats(t *testing.T) {
	var o Outbox
	if m := beat(&o, attempt(1), attempt(2)); len(m.Attempts) != 2 || len(m.Reports) != 0 {
		t.Errorf("attempts that say nothing: %+v", m.Reports)
	}
	o.Put(attempt(2), &grid.Progress{Done: 1, Total: 9})
	o.Put(attempt(2), &grid.Progress{Done: 2, Total: 9})
	m := beat(&o, attempt(1), attempt(2))
	want := grid.Report{At: 1, Said: true, Progress: grid.Progress{Done: 2, Total: 9}}
	if len(m.Reports) != 1 || m.Reports[0] != want {
		t.Errorf("%+v: want the newest report about the second attempt", m.Reports)
	}
	for i := range 2 * repeatBeats {
		want := 0
		if (i+1)%repeatBeats == 0 {
			want = 1
		}
		if m := beat(&o, attempt(1), attempt(2)); len(m.Reports) != want {
			t.Errorf("beat %d after it: %d reports, want %d", i+1, len(m.Reports), want)
		}
	}
	o.Put(attempt(2), &grid.Progress{Done: 3, Total: 9})
	o.Drop(attempt(2))
	if m := beat(&o, attempt(2)); len(m.Reports) != 0 || len(o.notes) != 0 {
		t.Errorf("of a dropped attempt: %+v, %d kept", m.Reports, len(o.notes))
	}
}

// The time in which an attempt is suspended is left out of what its worker is held to, up to a bound.
func TestStatusOfASuspendedAttempt(t *testing.T) {
	var s Status
	running := 0
	beat := func(now time.Duration, suspended bool) time.Duration {
		m := grid.Message{Kind: grid.KindBeat, Attempts: []grid.AttemptID{attempt(1)},
			Reports: []grid.Report{{Suspended: suspended}}}
		return s.Note(grid.Time(now), &m, 0, &running)
	}
	for _, c := range []struct {
		at        time.Duration
		suspended bool
		want      time.Duration
	}{
		{0, false, 0}, {10 * time.Second, true, 0}, {15 * time.Second, true, 5 * time.Second},
		{18 * time.Second, false, 3 * time.Second}, {time.Minute, false, 0}, {2 * time.Minute, true, 0},
		{30 * time.Minute, true, grid.MaxSuspended - 8*time.Second}, {time.Hour, true, 0},
	} {
		if got := beat(c.at, c.suspended); got != c.want || s.Standing().Suspended != c.suspended || running != 1 {
			t.Errorf("at %v: %v is left out, suspended %v, %d run; want %v", c.at, got, s.Standing().Suspended, running, c.want)
		}
	}
}

// What there is no room for comes with the next beat.
func TestReportsInABeatAreBounded(t *testing.T) {
	var o Outbox
	var ids []grid.AttemptID
	for i := range uint32(grid.MaxReports + 3) {
		ids = append(ids, attempt(i))
		o.Put(ids[i], &grid.Progress{Done: 1})
	}
	if m := beat(&o, ids...); len(m.Reports) != grid.MaxReports {
		t.Errorf("%d reports: want %d", len(m.Reports), grid.MaxReports)
	}
	if m := beat(&o, ids...); len(m.Reports) != 3 {
		t.Errorf("%d reports in the next beat: want the other 3", len(m.Reports))
	}
}

func TestStatus(t *testing.T) {
	var s Status
	running := 0
	note := func(now grid.Time, m grid.Message) {
		m.Attempts = []grid.AttemptID{attempt(1), attempt(2)}
		s.Note(now, &m, 1, &running)
	}
	want := func(what string, runs bool, done float64) {
		t.Helper()
		said := 0.0
		if s.Said() != nil {
			said = s.Said().Done
		}
		if s.Runs() != runs || running == 1 != runs || said != done {
			t.Errorf("%s: runs %v, %d counted, said %v: want %v and %v", what, s.Runs(), running, said, runs, done)
		}
	}
	says := func(done float64) grid.Message {
		return grid.Message{Kind: grid.KindBeat,
			Reports: []grid.Report{{At: 0}, {At: 1, Said: true, Progress: grid.Progress{Done: done}}}}
	}
	const second = grid.Time(grid.ProgressEvery)
	note(0, grid.Message{Kind: grid.KindAccept})
	want("accepted", false, 0)
	note(0, grid.Message{Kind: grid.KindStartLease})
	want("it waits", false, 0)
	note(0, grid.Message{Kind: grid.KindBeat})
	want("a beat", true, 0)
	note(second, says(1))
	want("a report", true, 1)
	for i := range grid.Time(100) {
		note(second+i, says(2))
	}
	want("reports that come too fast", true, 1)
	note(3*second, says(3))
	want("a second later", true, 3)
	note(3*second, grid.Message{Kind: grid.KindBeat, Reports: []grid.Report{{At: 1, Queued: true}}})
	want("it waits again", false, 3)
	note(3*second, grid.Message{Kind: grid.KindAccept, Started: true})
	want("it started at once", true, 3)
	note(3*second, grid.Message{Kind: grid.KindAccept})
	want("a late acceptance", true, 3)
	s.Clear(&running)
	want("the end", false, 0)
}

// Where an attempt waits is what its worker said last, until it runs; how it was suspended stays.
func TestStanding(t *testing.T) {
	var s Status
	running := 0
	note := func(now grid.Time, m grid.Message) Standing {
		m.Attempts = []grid.AttemptID{attempt(1), attempt(2)}
		s.Note(now, &m, 1, &running)
		return s.Standing()
	}
	request := func(order uint8, reports ...grid.Report) grid.Message {
		return grid.Message{Kind: grid.KindStartLease, Order: order, Reports: reports}
	}
	for i, x := range []struct {
		m    grid.Message
		want Standing
	}{
		{request(0), Standing{}}, // of an older version
		{request(1, grid.Report{At: 1, Queued: true, Place: 3}), Standing{Order: "fair", Place: 3, Heard: 1}},
		{request(0), Standing{Order: "fair", Place: 3, Heard: 1}}, // asked between two beats
		{request(2, grid.Report{Queued: true, Place: 3}), Standing{Order: "bid", Heard: 3}},
		{grid.Message{Kind: grid.KindBeat}, Standing{}},
	} {
		if got := note(grid.Time(i), x.m); got != x.want {
			t.Errorf("%d: %+v, want %+v", i, got, x.want)
		}
	}
	stops := &grid.Suspensions{Times: 1, Bid: 5000}
	note(7, grid.Message{Kind: grid.KindBeat, Reports: []grid.Report{{At: 1, Suspended: true, Suspensions: stops}}})
	if got := note(8, grid.Message{Kind: grid.KindBeat}); got.Suspensions != stops {
		t.Errorf("once it goes on: %+v", got)
	}
	if s.Clear(&running); s.Standing() != (Standing{}) {
		t.Errorf("of no attempt: %+v", s.Standing())
	}
}

// An attempt has run since it was first said to, not since it was made: what waits has not run, also if it ran before.
func TestSinceWhenAnAttemptRuns(t *testing.T) {
	var s Status
	running := 0
	beat := func(now grid.Time, queued bool) grid.Time {
		m := &grid.Message{Kind: grid.KindBeat, Reports: []grid.Report{{At: 0, Queued: queued}}}
		s.Note(now, m, 0, &running)
		return s.Since()
	}
	for _, c := range []struct {
		now    grid.Time
		queued bool
		want   grid.Time
	}{{10, true, 0}, {20, false, 20}, {30, false, 20}, {40, true, 0}, {50, false, 50}} {
		if got := beat(c.now, c.queued); got != c.want {
			t.Errorf("at %d, queued %v: it runs since %d, want %d", c.now, c.queued, got, c.want)
		}
	}
}
