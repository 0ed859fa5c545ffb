package register

import "skep/grid"

// RecordOf returns what a node keeps of a job's register, but for its entries and when it was submitted.
func RecordOf(id grid.JobID, spec *grid.JobSpec, r Register) grid.RegisterRecord {
	s := r.State()
	return grid.RegisterRecord{ID: id, Spec: spec, Members: r.First(), Promised: s.Promised, VotedFor: s.VotedFor,
		Epoch: s.Epoch, Owner: s.Owner, Done: s.Done, Opened: s.Opened, Genesis: s.Genesis, Mandate: s.Mandate, Set: s.Set}
}
