package dependency

import (
	"cmp"

	"skep/grid"
)

// Ends is the register of a job that waits for others, as far as it says how those have ended.
type Ends interface {
	Value(entry uint32) (e *grid.Entry, committed bool)
}

// end returns the committed end that an entry records; nil = there is none.
func end(r Ends, entry uint32) *grid.Result {
	if v, committed := r.Value(entry); v != nil && committed {
		return v.Result
	}
	return nil
}

// Held reports whether no task of the job may be placed yet: the good end of a job that all wait for is not committed.
func Held(s *grid.JobSpec, r Ends) bool {
	for k := range s.After.Jobs {
		if d := &s.After.Jobs[k]; d.Kind != grid.AfterEach && !d.Met(end(r, s.DependencyEntry(k))) {
			return true
		}
	}
	return false
}

// Holds reports whether a task may not be placed yet.
func Holds(s *grid.JobSpec, r Ends, task uint32) bool {
	if len(s.After.Jobs) == 0 {
		return false
	}
	each := s.After.Each()
	return Held(s, r) || each >= 0 && !s.After.Jobs[each].Met(end(r, s.EachEntry(task)))
}

// Vain says why the job can never run, since a job that it waits for has not ended as it should; "" = it can.
func Vain(s *grid.JobSpec, r Ends) string {
	for k := range s.After.Jobs {
		if x := end(r, s.DependencyEntry(k)); x != nil && !s.After.Jobs[k].Met(x) {
			return x.Error
		}
	}
	return ""
}

// VainTask says why one task can never run, since the task that it waits for has not ended well; "" = it can, or its
// job has further jobs to wait for.
func VainTask(s *grid.JobSpec, r Ends, task uint32) string {
	each := s.After.Each()
	if each < 0 || Held(s, r) {
		return ""
	}
	if x := end(r, s.EachEntry(task)); x != nil && !s.After.Jobs[each].Met(x) {
		return x.Error
	}
	return ""
}

// VainOf says why one task can never run, whatever of its job has not; "" = it can, as far as is known.
func VainOf(s *grid.JobSpec, r Ends, task uint32) string {
	return cmp.Or(Vain(s, r), VainTask(s, r, task))
}

// Inputs returns the files that other jobs have left for a task; nil = it reads none.
func Inputs(s *grid.JobSpec, r Ends, task uint32) (files []grid.File) {
	if len(s.After.Inputs) == 0 {
		return nil
	}
	for k := range s.After.Jobs {
		entry := s.DependencyEntry(k)
		if s.After.Jobs[k].Kind == grid.AfterEach {
			entry = s.EachEntry(task)
		}
		if x := end(r, entry); x != nil {
			files = append(files, x.Outputs...)
		}
	}
	return files
}
