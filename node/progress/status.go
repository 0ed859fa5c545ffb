package progress

import (
	"time"

	"skep/grid"
)

// Status is what an owner knows of an attempt that its worker has accepted, beside that. Invariant: the count that is
// given to its methods is one higher while the attempt runs.
type Status struct {
	runs      bool
	suspended bool
	stood     time.Duration  // for how long it was suspended, up to grid.MaxSuspended
	heard     grid.Time      // of the last beat that said so
	said      *grid.Progress // nil = nothing
	next      grid.Time      // what comes before is not kept: a worker says no more than once in grid.ProgressEvery
}

// Note takes what the attempt's worker has said of it: a request for a start lease means that it waits, a beat that it
// runs, unless its report says otherwise. The attempt is the one at a place among those of m. It returns for how long
// the attempt was suspended since it was noted last; of all that together up to grid.MaxSuspended, since else a worker
// could excuse with it that it never ends anything.
func (s *Status) Note(now grid.Time, m *grid.Message, at int, running *int) (stood time.Duration) {
	switch m.Kind {
	case grid.KindStartLease:
		s.suspended = false
		s.set(false, running)
	case grid.KindAccept:
		s.set(s.runs || m.Started, running)
	case grid.KindBeat:
		r := reportAbout(m.Reports, at)
		s.set(!r.Queued, running)
		if s.suspended {
			stood = min(now.Sub(s.heard), grid.MaxSuspended-s.stood)
			s.stood += stood
		}
		s.suspended, s.heard = r.Suspended, now
		if r.Said && now >= s.next {
			said := r.Progress
			s.said, s.next = &said, now.Add(grid.ProgressEvery/2) // half, as beats come a little early and late
		}
	}
	return stood
}

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
	s.runs = runs
}

// Runs reports whether the attempt has started, as far as its worker has said.
func (s *Status) Runs() bool { return s.runs }

// Suspended reports whether it is suspended, as far as its worker has said.
func (s *Status) Suspended() bool { return s.suspended }

// Said returns what the attempt has said last; nil if nothing. It is immutable.
func (s *Status) Said() *grid.Progress { return s.said }
