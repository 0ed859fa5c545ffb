package failures

import "skep/grid"

// Lost is how a task ends of which no further attempt is made after one that is lost. struck is why it has failed on
// enough nodes, "" = it has not; unprepared says that it could not be prepared too often.
func Lost(s *grid.JobSpec, why grid.Refusal, struck string, unprepared bool) *grid.Result {
	text := "lost: the node that ran it " + why.Why.String()
	if why.Detail != "" {
		text += ": " + why.Detail
	}
	switch {
	case struck != "":
		text = "lost: " + struck
	case unprepared:
		text = why.Detail
	}
	if once := s.OnceReason(); once != "" {
		text += "; " + once
	}
	return &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep, Error: grid.Clean(text, grid.MaxText)}
}

// GivenUp is why an attempt is given up that ended without success.
func GivenUp(r *grid.Result) grid.Refusal {
	why := grid.WhyFailed
	switch r.Cause {
	case grid.Lost:
		why = grid.WhyLost
	case grid.CannotExecute, grid.NotFound:
		why = grid.WhyProgram
	}
	return grid.Refusal{Why: why, Detail: r.Error}
}
