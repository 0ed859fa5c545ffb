package runner

import (
	"skep/grid"
	"skep/node/p2p/blob"
)

// pins keep the blobs that a record names from being evicted: inputs of a job and outputs of its tasks until the job
// is removed, at its origin and at members that store them as deposits. Those of attempts are kept by Runner: the
// inputs, and the outputs until the result is acknowledged. Only the loop's goroutine calls noteRecord.
type pins struct {
	blobs   *blob.Store
	results map[grid.TaskID][]grid.File // of own tasks that have ended
	jobs    map[grid.JobID]*grid.JobSpec

	checkpoints map[grid.TaskID][]grid.File
}

func newPins(blobs *blob.Store) pins {
	return pins{blobs, make(map[grid.TaskID][]grid.File), make(map[grid.JobID]*grid.JobSpec),
		make(map[grid.TaskID][]grid.File)}
}

// noteRecord updates the pins for a record of a job or a task that is now on disk.
func (p *pins) noteRecord(r *grid.Record) {
	switch r.Kind {
	case grid.RecRegister:
		if r.Delete || r.Register.Held {
			p.job(r.Register.ID, r.Register.Spec, r.Delete)
		}
	case grid.RecCheckpoint:
		id, old := r.Checkpoint.ID.Task, p.checkpoints[r.Checkpoint.ID.Task]
		if delete(p.checkpoints, id); !r.Delete {
			p.checkpoints[id] = r.Checkpoint.Files
			p.add(r.Checkpoint.Files)
		}
		p.remove(old)
	case grid.RecEntry:
		_, result := r.Entry.Deposited()
		p.task(r.Entry.ID.Task, result, r.Delete || !r.Entry.Held)
		for id, k := r.Entry.ID.Task, r.Entry.Further; k > 0; k-- {
			id.Index++
			p.removeResult(id)
		}
	}
}

func (p *pins) job(id grid.JobID, s *grid.JobSpec, gone bool) {
	spec := p.jobs[id]
	switch {
	case !gone && spec == nil && s != nil:
		p.jobs[id] = s
		p.add(s.Inputs)
	case gone && spec != nil:
		delete(p.jobs, id)
		p.remove(spec.Inputs)
		for i := range spec.Entries() {
			p.removeResult(grid.TaskID{Job: id, Index: i})
		}
	}
}

func (p *pins) task(id grid.TaskID, r *grid.Result, gone bool) {
	old := p.results[id]
	delete(p.results, id)
	if !gone && r != nil {
		if files := r.Blobs(nil); len(files) > 0 {
			p.results[id] = files
			p.add(files)
		}
	}
	p.remove(old) // last: the files may be the same
}

func (p *pins) removeResult(id grid.TaskID) {
	if files := p.results[id]; files != nil {
		delete(p.results, id)
		p.remove(files)
	}
}

// add pins files; each add wants a remove.
func (p *pins) add(files []grid.File) {
	for i := range files {
		p.blobs.Pin(files[i].Blob)
	}
}

func (p *pins) remove(files []grid.File) {
	for i := range files {
		p.blobs.Unpin(files[i].Blob)
	}
}
