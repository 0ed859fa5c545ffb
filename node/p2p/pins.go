package p2p

import (
	"slices"

	"skep/grid"
)

// Blobs named by a record are pinned: inputs of an accepted attempt, and its outputs until the result is
// acknowledged; inputs of a job and outputs of its tasks until the job is removed, at its origin and at members
// that store them as deposits.

// recordSaved updates the pins for a record that is now on disk.
func (t *tasks) recordSaved(r *grid.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch r.Kind {
	case grid.RecWork:
		if a := t.m[r.Work.ID]; r.Delete {
			if a != nil {
				t.dropAttempt(a)
			}
			return
		}
		a := t.get(r.Work.ID, r.Work.Spec)
		if !a.pinned && r.Work.Spec != nil {
			a.spec, a.members, a.pinned = r.Work.Spec, slices.Clone(r.Work.Members), true
			t.d.pin(a.spec.Inputs)
		}
		if a.resultFiles == nil && r.Work.Result != nil { // for its origin to fetch
			a.resultFiles = r.Work.Result.Blobs(nil)
			t.d.pin(a.resultFiles)
		}
	case grid.RecJob:
		t.pinJob(r.Job.ID, r.Job.Spec, r.Delete)
	case grid.RecTask:
		t.pinTask(&r.Task, r.Delete)
	case grid.RecRegister:
		if r.Delete || r.Register.Held {
			t.pinJob(r.Register.ID, r.Register.Spec, r.Delete)
		}
	case grid.RecEntry:
		t.pinTask(&r.Entry.TaskRecord, r.Delete || !r.Entry.Held)
	}
}

func (t *tasks) pinJob(id grid.JobID, s *grid.JobSpec, gone bool) {
	spec := t.jobs[id]
	switch {
	case !gone && spec == nil && s != nil:
		t.jobs[id] = s
		t.d.pin(s.Inputs)
	case gone && spec != nil:
		delete(t.jobs, id)
		t.d.unpin(spec.Inputs)
		for i := range spec.Count {
			t.unpinResult(grid.TaskID{Job: id, Index: i})
		}
	}
}

func (t *tasks) pinTask(r *grid.TaskRecord, gone bool) {
	id := r.ID.Task
	old := t.results[id]
	delete(t.results, id)
	if !gone && r.Result != nil {
		if files := r.Result.Blobs(nil); len(files) > 0 {
			t.results[id] = files
			t.d.pin(files)
		}
	}
	t.d.unpin(old) // last: the files may be the same
}

func (t *tasks) unpinResult(id grid.TaskID) {
	if files := t.results[id]; files != nil {
		delete(t.results, id)
		t.d.unpin(files)
	}
}

func (d *Driver) pin(files []grid.File) {
	for i := range files {
		d.blobs.Pin(files[i].Blob)
	}
}

func (d *Driver) unpin(files []grid.File) {
	for i := range files {
		d.blobs.Unpin(files[i].Blob)
	}
}
