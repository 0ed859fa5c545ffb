package node

import (
	"slices"

	"skep/grid"
)

// forming is a submission whose members are not chosen yet. Nothing of it is on disk, and nobody was told of it. Who is
// chosen must have answered just now: once somebody was told of the job its members are fixed, for two sets of
// members could each have a majority.
type forming struct {
	id      grid.JobID
	spec    *grid.JobSpec
	callers []uint64
	since   grid.Time
	first   []grid.NodeID // who was asked first, as far apart as can be: for a while nobody else will do
	over    bool          // it is not one any more
}

func (f *forming) key() grid.JobID { return f.id }

// formings are the submissions whose members are not chosen yet. Whose answer one of them waits for knows it (pair.awaits), so that of many
// none is looked at without a reason. Those that only some nodes may keep stand in a line of their own: they do not hold up the others.
type formings struct {
	by    lookup[grid.JobID, *forming]
	lines [2]formingLine // of jobs that any member may see, and of those that only their owner may
}

// formingLine are submissions that the same nodes may keep.
type formingLine struct {
	list    []*forming // oldest first; the first is one, of the others some are over
	unasked []*forming // the newest of them, for which nobody was asked because nobody could be
	over    int        // so many of the list
}

// line is the one that a submission stands in.
func (s *formings) line(f *forming) *formingLine {
	if f.spec.Access() == grid.AccessOwner {
		return &s.lines[1]
	}
	return &s.lines[0]
}

// all lists the submissions of both lines.
func (s *formings) all() []*forming { return slices.Concat(s.lines[0].list, s.lines[1].list) }

func (s *formings) add(f *forming) {
	s.by.put(f)
	l := s.line(f)
	l.list, l.unasked = append(l.list, f), append(l.unasked, f)
}

// remove takes one out; the list has it until trim.
func (s *formings) remove(f *forming) {
	s.by.drop(f.id)
	f.over = true
	s.line(f).over++
}

// trim takes those that are over off the front of the list, and all of them when they are many.
func (s *formingLine) trim() {
	gone := 0
	for gone < len(s.list) && s.list[gone].over {
		gone++
	}
	clear(s.list[:gone])
	s.list, s.over = s.list[gone:], s.over-gone
	if 2*s.over > len(s.list) {
		s.list, s.over = slices.DeleteFunc(s.list, func(f *forming) bool { return f.over }), 0
	}
	if len(s.list) == 0 {
		s.list, s.unasked = nil, nil
	}
}
