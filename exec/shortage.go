package exec

import "skep/grid"

// shortages are the counted resources that work in front of the queue lacks, in one call of Next. Work that lacks units
// of a kind is passed by work that takes none of that kind as often as may be: that does not delay it. Work that takes
// some of it passes MaxPassed times at most, as smaller work passes what lacks cores.
type shortages struct {
	heads []*Work // the oldest that lacks units, one for each kind that the node has
	kinds []string

	last   grid.Counts // need of the last work that was looked at
	looked bool        // there was one
	fits   bool        // it may take what it needs
	lacks  string      // kind of which there is too little for it
}

// allow reports whether work may take the units that it needs.
func (s *shortages) allow(e *Exec, w *Work) bool {
	need := w.Spec.Needs.Counts
	if s.looked && need == s.last { // most of a long queue is of one job
		return s.fits
	}
	s.looked, s.last = true, need
	s.lacks, _, _ = e.free.Counts.Lacks(need)
	s.fits = s.lacks == ""
	for i, h := range s.heads {
		if need.Of(s.kinds[i]) > 0 && h.passed >= MaxPassed {
			s.fits = false
		}
	}
	return s.fits
}

// isNews reports whether the last work lacks units of a kind that nothing before it lacked.
func (s *shortages) isNews() bool { return s.lacks != "" && s.head(s.lacks) == nil }

func (s *shortages) head(kind string) *Work {
	for i, k := range s.kinds {
		if k == kind {
			return s.heads[i]
		}
	}
	return nil
}

// add records that work is the first that lacks units of a kind.
func (s *shortages) add(w *Work) {
	s.heads, s.kinds = append(s.heads, w), append(s.kinds, s.lacks)
	s.looked = false // work that may take some of that kind is judged anew
}

// pass counts that work which takes these units starts before those that lack some of the kinds.
func (s *shortages) pass(taken grid.Counts) {
	for i, h := range s.heads {
		if taken.Of(s.kinds[i]) > 0 {
			h.passed++
		}
	}
}
