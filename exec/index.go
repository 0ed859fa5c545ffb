package exec

import (
	"slices"

	"skep/grid"
)

// fewWorks are looked through in the lists of their states; most nodes of a large grid never have more.
const fewWorks = 16

// index finds work and descriptions where they are many.
type index struct {
	work  map[grid.AttemptID]*Work
	specs map[grid.JobID]*shared
}

// lists are all accepted attempts.
func (e *Exec) lists() [3][]*Work { return [...][]*Work{e.queue, e.running, e.finished} }

// Get returns an accepted attempt; nil if it is not here.
func (e *Exec) Get(id grid.AttemptID) *Work {
	if e.many.work != nil {
		return e.many.work[id]
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

// note takes up work that has just come into a list.
func (e *Exec) note(w *Work) {
	if e.many.work != nil {
		e.many.work[w.ID], e.many.specs[w.ID.Task.Job] = w, w.shared
		return
	}
	if len(e.queue)+len(e.running)+len(e.finished) <= fewWorks {
		return
	}
	e.many = index{work: make(map[grid.AttemptID]*Work), specs: make(map[grid.JobID]*shared)}
	for _, list := range e.lists() {
		for _, w := range list {
			e.many.work[w.ID], e.many.specs[w.ID.Task.Job] = w, w.shared
		}
	}
}

// Of appends the accepted attempts of a job, in whatever state, to dst.
func (e *Exec) Of(job grid.JobID, dst []*Work) []*Work {
	if e.many.specs != nil {
		first := len(dst)
		if s := e.many.specs[job]; s != nil {
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

// shared is the one copy of a job's description that all its attempts here point to: each offer brings one of
// its own, which for a long queue would be most of the node's memory.
type shared struct {
	spec *grid.JobSpec
	last *Work // of its attempts, which are a chain: the one that came last
}

// share gives work the copy of its job's description that is kept.
func (e *Exec) share(w *Work, spec *grid.JobSpec) {
	s := e.sharing(w.ID.Task.Job)
	if s == nil {
		if s = e.lent; s == nil {
			s = new(shared)
		}
		e.lent = nil
		s.spec = spec
	}
	if w.before = s.last; s.last != nil {
		s.last.after = w
	}
	s.last, w.Spec, w.shared = w, s.spec, s
}

// sharing returns the copy of a job's description; nil if none of its work is here.
func (e *Exec) sharing(job grid.JobID) *shared {
	if e.many.specs != nil {
		return e.many.specs[job]
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

// lose lets go of work that is in no list any more.
func (e *Exec) lose(w *Work) {
	delete(e.many.work, w.ID)
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
	delete(e.many.specs, w.ID.Task.Job)
	*s = shared{}
	e.lent = s
}
