package exec

import (
	"slices"

	"skep/grid"
)

// smallIndex is how many attempts are searched linearly; most nodes of a large grid never have more.
const smallIndex = 16

// index finds work and specs when there are many.
type index struct {
	work  map[grid.AttemptID]*Work
	specs map[grid.JobID]*jobSpec
}

// lists returns all accepted attempts.
func (e *Exec) lists() [3][]*Work { return [...][]*Work{e.queue.all(), e.running, e.finished} }

// Get returns an accepted attempt; nil if there is none.
func (e *Exec) Get(id grid.AttemptID) *Work {
	if e.index.work != nil {
		return e.index.work[id]
	}
	for _, list := range e.lists() {
		for _, w := range list {
			if w.ID == id {
				return w
			}
		}
	}
	return nil
}

// addToIndex indexes work that was added to a list.
func (e *Exec) addToIndex(w *Work) {
	if e.index.work != nil {
		e.index.work[w.ID], e.index.specs[w.ID.Task.Job] = w, w.shared
		return
	}
	if e.queue.Len()+len(e.running)+len(e.finished) <= smallIndex {
		return
	}
	e.index = index{work: make(map[grid.AttemptID]*Work), specs: make(map[grid.JobID]*jobSpec)}
	for _, list := range e.lists() {
		for _, w := range list {
			e.index.work[w.ID], e.index.specs[w.ID.Task.Job] = w, w.shared
		}
	}
}

// Of appends the accepted attempts of a job, in any state, to dst.
func (e *Exec) Of(job grid.JobID, dst []*Work) []*Work {
	if e.index.specs != nil {
		first := len(dst)
		if s := e.index.specs[job]; s != nil {
			for w := s.last; w != nil; w = w.before {
				dst = append(dst, w)
			}
		}
		slices.Reverse(dst[first:])
		return dst
	}
	for _, list := range e.lists() {
		for _, w := range list {
			if w.ID.Task.Job == job {
				dst = append(dst, w)
			}
		}
	}
	return dst
}

// jobSpec is a job's spec, shared by all its attempts here: each offer has a copy, which for a long queue would be
// most of the node's memory.
type jobSpec struct {
	spec  *grid.JobSpec
	level string // grid.LevelOf(spec)
	last  *Work  // the last of its attempts, which are a chain

	options []*grid.JobSpec // of attempts that run as an option, by the option's number less one; nil = none did
	line    *line           // of its queued work; it may be gone
}

// asOption returns the spec of an attempt that runs as an option of the job, by the option's number.
func (s *jobSpec) asOption(number uint8) *grid.JobSpec {
	if s.spec.Needs.Option(number) == nil {
		return s.spec
	}
	if s.options == nil {
		s.options = make([]*grid.JobSpec, len(s.spec.Needs.Options))
	}
	of := &s.options[number-1]
	if *of == nil {
		*of = s.spec.AsOption(number)
	}
	return *of
}

// Submitted is the spec of the work's job, of which Spec may be an option.
func (w *Work) Submitted() *grid.JobSpec { return w.shared.spec }

// shareSpec makes work use the shared spec of its job, as an option by its number.
func (e *Exec) shareSpec(w *Work, spec *grid.JobSpec, option uint8) {
	s := e.specOf(w.ID.Task.Job)
	if s == nil {
		if s = e.freeSpec; s == nil {
			s = new(jobSpec)
		}
		e.freeSpec = nil
		s.spec, s.level = spec, grid.LevelOf(spec)
	}
	if w.before = s.last; s.last != nil {
		s.last.after = w
	}
	s.last, w.Spec, w.shared = w, s.asOption(option), s
}

// specOf returns the shared spec of a job; nil if none of its work is here.
func (e *Exec) specOf(job grid.JobID) *jobSpec {
	if e.index.specs != nil {
		return e.index.specs[job]
	}
	for _, list := range e.lists() {
		for _, w := range list {
			if w.ID.Task.Job == job {
				return w.shared
			}
		}
	}
	return nil
}

// removeFromIndex forgets work that is in no list any more.
func (e *Exec) removeFromIndex(w *Work) {
	delete(e.index.work, w.ID)
	s := w.shared
	if w.before != nil {
		w.before.after = w.after
	}
	if w.after != nil {
		w.after.before = w.before
	} else {
		s.last = w.before
	}
	if s.last != nil {
		return
	}
	delete(e.index.specs, w.ID.Task.Job)
	*s = jobSpec{}
	e.freeSpec = s
}
