package mapping

import (
	"slices"
	"time"

	"skep/balance"
	"skep/grid"
)

// Events is the mapping events of one policy. It polls during an event, and else waits for the next one:
//
//	waiting → polling   Begin: an event is due, and tasks await it
//	polling → waiting   End, or Missed: the answers are in
//
// While tasks await an event it polls or a timer is pending (Expected).
type Events struct {
	Policy string
	Handle uint64 // of its polls and timers; no task has it
	Poll

	cfg Config

	last   grid.Time // event
	next   grid.Time // event without news; Never = none
	news   bool      // since the last event tasks have come or ended, or nodes have changed
	came   int       // tasks that came since the last event
	full   bool      // there was no room for all that begin: the next event comes when there is
	wake   grid.Time // of the pending timer; 0 = none
	misses int       // consecutive events without an answer
}

// Pauses after events without an answer: doubled from minPause to MaxPause.
const (
	minPause = time.Second

	// MaxPause is the longest time without an event while tasks wait.
	MaxPause = 30 * time.Second
)

// Came says that so many tasks have come.
func (e *Events) Came(tasks int) { e.news, e.came = true, e.came+tasks }

// Back says that a task that was mapped before waits again. It is no news if the next event is known; it may not be, as
// when the last event found that nobody could take the task.
func (e *Events) Back() { e.news = e.news || !e.Polling && e.next == grid.Never }

// Again has an event follow as soon as one may: not all that wait were mapped.
func (e *Events) Again() { e.news = true }

// Full says that there was no room for all that begin now.
func (e *Events) Full() { e.full = true }

// DueAt returns when the next event comes; Never while it polls, and if none is expected. room reports whether there is
// room for further decisions.
func (e *Events) DueAt(now grid.Time, room bool) grid.Time {
	switch {
	case e.Polling:
		return grid.Never
	case e.full && room, e.news && e.came > e.cfg.MappingCount:
		return now
	case e.news:
		return min(e.next, e.last.Add(e.cfg.MappingInterval))
	}
	return e.next
}

// Begin begins an event.
func (e *Events) Begin(now grid.Time) {
	e.last, e.next, e.news, e.came, e.full = now, grid.Never, false, 0, false
	e.begin(now)
}

// Missed ends an event that nobody answered.
func (e *Events) Missed(now grid.Time) {
	e.misses++
	e.next = now.Add(min(minPause<<min(e.misses, 10), MaxPause))
}

// Late takes an answer that no poll awaits, and reports whether it is to the last event and that had none: then the
// next one comes as soon as one may.
func (e *Events) Late(from grid.NodeID, id uint64) (late bool) {
	late = !e.Polling && e.misses > 0 && e.round == uint8(id) && slices.Contains(e.Asked, from)
	e.news = e.news || late
	return late
}

// End ends an event after which the first of the tasks that wait begins in so many seconds; +Inf = none does.
func (e *Events) End(now grid.Time, begins float64) {
	e.misses = 0
	d := grid.Seconds(min(begins, MaxPause.Seconds())) - e.cfg.MappingInterval
	e.next = now.Add(min(max(d, e.cfg.MappingInterval), MaxPause))
}

// Interval is the time in seconds from one event to the next.
func (e *Events) Interval() float64 { return e.cfg.MappingInterval.Seconds() }

// Sleep sets the timer for the next event unless an earlier one is pending.
func (e *Events) Sleep(at grid.Time, fx *grid.Effects) {
	if at < grid.Never && (e.wake == 0 || at < e.wake) {
		e.wake = at
		fx.Wake(at, grid.TimerRetry, e.Handle)
	}
}

// Woke takes a timer.
func (e *Events) Woke(now grid.Time) {
	if now >= e.wake {
		e.wake = 0
	}
}

// Expected reports whether an event is under way or a timer will begin one.
func (e *Events) Expected() bool { return e.Polling || e.wake > 0 }

// Set is the mapping events in use, in the order of their policies' first use.
type Set struct{ list []*Events }

// most is the number of policies from which on those are forgotten that no task awaits: so there are no more than that,
// or than tasks that wait.
const most = 32

// All returns them.
func (s *Set) All() []*Events { return s.list }

// Changed says that tasks have ended or nodes have changed.
func (s *Set) Changed() {
	for _, e := range s.list {
		e.news = true
	}
}

// Get returns the one that polls or wakes by a handle; nil = none.
func (s *Set) Get(handle uint64) *Events {
	return s.find(func(e *Events) bool { return e.Handle == handle })
}

// Of returns that of a policy; nil = none.
func (s *Set) Of(policy string) *Events {
	return s.find(func(e *Events) bool { return e.Policy == policy })
}

func (s *Set) find(f func(*Events) bool) *Events {
	if at := slices.IndexFunc(s.list, f); at >= 0 {
		return s.list[at]
	}
	return nil
}

// Add adds the events of a policy. If there are many, it forgets those that no task awaits and that do not poll.
func (s *Set) Add(policy string, handle uint64, c Config, awaited func(policy string) bool) *Events {
	if len(s.list) >= most {
		s.list = slices.DeleteFunc(s.list, func(e *Events) bool { return !e.Polling && !awaited(e.Policy) })
	}
	e := &Events{Policy: policy, Handle: handle, cfg: c, last: -grid.Time(c.MappingInterval), next: grid.Never}
	e.trades = balance.Trades(policy)
	s.list = append(s.list, e)
	return e
}
