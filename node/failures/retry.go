package failures

import "skep/grid"

// Refuses says why no task of a job may be run again by a caller; "" = each may that has ended.
func Refuses(s *grid.JobSpec) string {
	switch {
	case s.IsGang():
		return "its tasks are the ranks of a gang, which are not run again one by one: submit it again"
	case s.Stdin == grid.StdinStream:
		return "its standard input was streamed, which cannot be repeated: submit it again"
	case s.Retries == 0 && !s.Rules.OnFailure.Rerun:
		return "its tasks run at most once (retries: 0): submit it again, or with rerun: true"
	}
	return ""
}

// Exhausted reports whether so many ends of a task are recorded that a caller may not have it run again.
func Exhausted(s *grid.JobSpec, last *grid.Entry) bool {
	return int(last.Round)+int(max(s.Rules.OnFailure.Retry, 0))+2 > grid.MaxRounds
}

// Count counts the recorded ends of a task after which it was run again, or is to be: those before an entry, and its
// own if it is open. A retry is none. Of a task with several retries and more ends than are listed it is a little high.
func Count(e *grid.Entry) (n int) {
	switch n = int(e.Round); {
	case e.RetriedAt == 0:
	case len(e.Failures) < grid.MaxFailures:
		n = len(e.Failures)
	default:
		n--
	}
	if e.Open() && !e.IsRetry() {
		n++
	}
	return n
}

// Retry returns the entry by which a caller has a task run again, or a cancelled job go on, after an end that is final:
// an open one, whose next attempt may start at once. The owner that decides it is that of the epoch.
func Retry(last *grid.Entry, epoch uint32) *grid.Entry {
	e := *last
	e.Round, e.Again, e.Lost = last.Round+1, 1, 0
	e.RetriedAt, e.RetryEpoch = e.Round+1, epoch
	if e.Failures = nil; e.Result != nil {
		e.Failures = Past(last)
	}
	return &e
}
