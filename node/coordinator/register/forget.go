package register

import (
	"iter"

	"skep/grid"
)

// maxForgottenSingly is the number of a job's entries up to which each is deleted by a record of its own.
const maxForgottenSingly = 1000

// Forget deletes a job's register and its entries from disk; touched are the tasks that may have one.
func Forget[T any](id grid.JobID, s *grid.JobSpec, touched iter.Seq2[uint32, T], r View, fx *grid.Effects) {
	known := 0
	for range touched {
		known++
	}
	if s.After.Each() >= 0 {
		known *= 2
	}
	if known > maxForgottenSingly {
		forgetEntry(id, 0, fx).Further = s.Entries() - 1
	} else {
		for i := range touched {
			forgetEntry(id, i, fx)
		}
		forgetEntry(id, s.Count, fx)
		for i := range r.Written() {
			if i > s.Count {
				forgetEntry(id, i, fx)
			}
		}
	}
	rec := fx.Save(grid.RecRegister)
	rec.Delete, rec.Register.ID = true, id
}

func forgetEntry(id grid.JobID, i uint32, fx *grid.Effects) *grid.EntryRecord {
	rec := fx.Save(grid.RecEntry)
	rec.Delete, rec.Entry.ID.Task = true, grid.TaskID{Job: id, Index: i}
	return &rec.Entry
}
