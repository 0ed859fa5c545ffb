package progress

import (
	"time"

	"skep/balance/order"
	"skep/grid"
)

// Status is what an owner knows of an attempt that its worker has accepted, beside that. Invariant: the count that is
// given to its methods is one higher while the attempt runs.
type Status struct {
	runs      bool
	since     grid.Time // when it was first said to run, of those that run
	suspended bool
	order     uint8          // rule of the queue in which it waits, as in grid.Message; 0 = not said
	place     uint32         // of it in that order; 0 = not said
	stood     time.Duration  // for how long it was suspended, up to grid.MaxSuspended
	heard     grid.Time      // when any of this was said last
	said      *grid.Progress // nil = nothing
	next      grid.Time      // what comes before is not kept: a worker says no more than once in grid.ProgressEvery

	suspensions *grid.Suspensions // nil = none were said
	movable     *grid.Movable     // as its worker said last; nil = its worker does not give it up
}

// Note takes what the attempt's worker has said of it: a request for a start lease means that it waits, a beat that it
// runs, unless its report says otherwise. The attempt is the one at a place among those of m. It returns for how long
// the attempt was suspended since it was noted last; of all that together up to grid.MaxSuspended, since else a worker
// could excuse with it that it never ends anything.
func (s *Status) Note(now grid.Time, m *grid.Message, at int, running *int) (stood time.Duration) {
	switch m.Kind {
	case grid.KindStartLease:
		s.suspended = false
		if s.set(false, running); m.Order != 0 {
			s.order, s.place, s.heard = m.Order, reportAbout(m.Reports, at).Place, now
		}
	case grid.KindAccept:
		s.set(s.runs || m.Started, running)
	case grid.KindBeat:
		r := reportAbout(m.Reports, at)
		s.set(!r.Queued, running)
		if s.suspended {
			stood = min(now.Sub(s.heard), grid.MaxSuspended-s.stood)
			s.stood += stood
		}
		s.movable = r.Movable
		if s.suspended, s.heard = r.Suspended, now; r.Suspensions != nil {
			s.suspensions = r.Suspensions
		}
		if r.Said && now >= s.next {
			said := r.Progress
			s.said, s.next = &said, now.Add(grid.ProgressEvery/2) // half, as beats come a little early and late
		}
	}
	if s.runs && s.since == 0 {
		s.since = now
	}
	return stood
}

// Since is when the attempt was first said to run; 0 = it does not, as far as is known.
func (s *Status) Since() grid.Time { return s.since }

// reportAbout returns the report about the attempt at a place; an empty one if there is none.
func reportAbout(reports []grid.Report, at int) grid.Report {
	low, high := 0, len(reports)
	for low < high {
		if mid := (low + high) / 2; reports[mid].At < at {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(reports) && reports[low].At == at {
		return reports[low]
	}
	return grid.Report{}
}

// Clear ends the status: the worker has the attempt no longer.
func (s *Status) Clear(running *int) {
	s.set(false, running)
	*s = Status{}
}

func (s *Status) set(runs bool, running *int) {
	switch {
	case runs && !s.runs:
		*running++
	case !runs && s.runs:
		*running--
	}
	if s.runs = runs; runs {
		s.order, s.place = 0, 0
	} else {
		s.since = 0
	}
}

// Runs reports whether the attempt has started, as far as its worker has said.
func (s *Status) Runs() bool { return s.runs }

// Standing is what a worker has told its owner of how an attempt stands there. The zero value: nothing.
type Standing struct {
	Suspended   bool              // it has started, and is stopped in place
	Order       string            // while it waits: the name of the rule of the queue; "" = not said, or not known here
	Place       uint32            // in that order, from 1; 0 = not among the first grid.MaxPlace
	Suspensions *grid.Suspensions // nil = none
	Heard       grid.Time         // when it was said
}

// Standing returns what was said of where the attempt stands.
func (s *Status) Standing() Standing {
	x := Standing{Suspended: s.suspended, Order: order.NameOf(s.order), Place: s.place, Suspensions: s.suspensions}
	if x != (Standing{}) {
		x.Heard = s.heard
	}
	return x
}

// Movable returns how the attempt stands, if its worker gives it up when it is asked to; else nil. It is immutable.
func (s *Status) Movable() *grid.Movable { return s.movable }

// Said returns what the attempt has said last; nil if nothing. It is immutable.
func (s *Status) Said() *grid.Progress { return s.said }
