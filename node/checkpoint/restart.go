package checkpoint

import (
	"strconv"

	"skep/grid"
)

// Inputs returns the files that an attempt is to begin from, with paths in grid.CheckpointFolder; nil = from none.
// Ranks of one attempt, and repeated offers, get the same.
func (s *Store) Inputs(spec *grid.JobSpec, id grid.AttemptID) []grid.File {
	task := unitOf(spec, id.Task)
	u := s.units[task]
	if u == nil {
		return nil
	}
	if u.given != id.Attempt {
		u.given, u.from = id.Attempt, set{}
		if u.kept.by.Less(id.Attempt) {
			u.from = u.kept
		}
	}
	files := make([]grid.File, 0, len(u.from.files))
	for _, f := range u.from.files {
		f.Path = grid.CheckpointFolder + "/" + strconv.FormatUint(u.from.step, 10) + "/" + f.Path
		files = append(files, f)
	}
	return files
}

// Before returns how the work was divided in the attempt whose checkpoint a rank of a gang is given by Inputs.
func (s *Store) Before(spec *grid.JobSpec, id grid.AttemptID) grid.Division {
	u := s.units[unitOf(spec, id.Task)]
	if !spec.IsGang() || u == nil || u.given != id.Attempt || u.from.step == 0 {
		return grid.Division{}
	}
	return grid.Division{Ranks: spec.Gang.RanksOf(u.from.by), Shares: u.from.shares}
}

// Advanced reports whether what is kept was written by that attempt of a task or gang.
func (s *Store) Advanced(spec *grid.JobSpec, id grid.AttemptID) bool {
	task := unitOf(spec, id.Task)
	u := s.units[task]
	return u != nil && u.kept.step > 0 && u.kept.by == id.Attempt
}

// Divided returns how the work is divided among the ranks of a gang's attempt, if what is kept was written by it; nil =
// it was not, or the work is not divided.
func (s *Store) Divided(spec *grid.JobSpec, id grid.AttemptID) []uint32 {
	if !s.Advanced(spec, id) {
		return nil
	}
	return s.units[unitOf(spec, id.Task)].kept.shares
}

// View is what there is to say of the checkpoints of a task or gang.
type View struct {
	Step  uint64     // the newest that a restart begins from; 0 = none
	From  uint64     // that the newest attempt began from, as far as this owner knows; 0 = none
	Alone bool       // fewer than a majority of the members keep it
	Bytes grid.Bytes // of it
	Why   string     // why the newest one that was written is not kept; "" = it is, or is on its way
}

// View returns what there is to say of a task's checkpoints.
func (s *Store) View(spec *grid.JobSpec, id grid.TaskID) (v View) {
	task := unitOf(spec, id)
	if u := s.units[task]; u != nil {
		v.Step, v.From = u.kept.step, u.from.step
		v.Bytes = u.kept.size()
		v.Alone = u.copies != nil && !u.copies.majority()
		switch {
		case u.gather != nil && u.gather.why != "":
			v.Why = u.gather.why
		case u.blame.why != "":
			v.Why = u.blame.why
		case len(u.claims) > 0:
			v.Why = "members tell of one that nobody else has heard of"
		}
	}
	return v
}
