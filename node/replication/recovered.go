package replication

import (
	"slices"

	"skep/grid"
)

// TakeRecovered returns the records of a register that was recovered, saves them in the place of all that was here, and
// takes part in it from now on. There is no register if it is closed and evicted by those that knew how: then a
// tombstone is left, which takes no part either.
func (s *Replicas) TakeRecovered(now grid.Time, id grid.JobID, fx *grid.Effects) (*grid.RegisterRecord,
	[]grid.EntryRecord) {
	v := s.recovering(id)
	if v == nil || !v.answered(s.cfg.Self) {
		return nil, nil
	}
	s.lost = slices.DeleteFunc(s.lost, func(x *recovery) bool { return x == v })
	gone := fx.Save(grid.RecEntry)
	gone.Delete, gone.Entry.ID.Task.Job, gone.Entry.Further = true, id, v.spec.Entries()-1
	st, entries, known := v.state(s.cfg.Self)
	if !known {
		gone := fx.Save(grid.RecRegister)
		gone.Delete, gone.Register.ID = true, id
		s.tombstones.bury(id, tombstone{epoch: st.Epoch, tasks: v.spec.Count, members: membersHash(v.members),
			opened: st.Opened}, s.wall.At(now).UnixNano(), fx)
		return nil, nil
	}
	rec := &fx.Save(grid.RecRegister).Register
	*rec = grid.RegisterRecord{ID: id, Spec: v.spec, Members: v.members, Submitted: v.submitted, Promised: st.Promised,
		VotedFor: st.VotedFor, Epoch: st.Epoch, Owner: st.Owner, Done: st.Done, Opened: st.Opened,
		Held: v.own != nil && v.own.Held}
	saved := *rec // fx.Saves may move
	var records []grid.EntryRecord
	for _, e := range entries.entries.All() {
		if *e != nil {
			r := (*e).Record(id)
			fx.Save(grid.RecEntry).Entry = r
			records = append(records, r)
		}
	}
	tomb := fx.Save(grid.RecTombstone) // it may be what was lost
	tomb.Delete, tomb.Tombstone.ID = true, id
	return &saved, records
}

// state returns the state and the entries that follow from the answers; known is false if nobody has a register of the
// job any more.
func (v *recovery) state(self grid.NodeID) (st grid.RegisterState, entries *campaign, known bool) {
	entries = &v.accepted
	if v.own != nil {
		st = grid.RegisterState{Promised: v.own.Promised, VotedFor: v.own.VotedFor, Epoch: v.own.Epoch, Owner: v.own.Owner,
			Done: v.own.Done, Opened: v.own.Opened}
		entries.merge(v.left)
	}
	promised := st.Promised
	for i := range v.answers {
		a := &v.answers[i]
		promised, st.Opened = max(promised, a.promised), max(st.Opened, a.state.Opened)
		known = known || a.answer == grid.RegisterOK || a.answer == grid.RegisterDone
		if a.state.Epoch > st.Epoch {
			st.Epoch, st.Owner = a.state.Epoch, a.state.Owner
		}
	}
	for i := range v.answers {
		if a := &v.answers[i]; a.answer == grid.RegisterDone && a.state.Opened == st.Opened {
			st.Done, entries = true, &v.outcome
		}
	}
	if v.own == nil || st.Owner == self || promised > st.Promised {
		st.Promised, st.VotedFor = promised+1, grid.NodeID{}
	}
	return st, entries, known
}
