package p2p

import "skep/grid"

// What a record names must not be collected: inputs of an attempt accepted here and what it left
// until its result is acknowledged; inputs of an own job and what its tasks left until the job is forgotten.

// saved follows a record that is on disk now.
func (t *tasks) saved(r *grid.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch r.Kind {
	case grid.RecWork:
		if a := t.m[r.Work.ID]; r.Delete {
			if a != nil {
				t.forget(a)
			}
			return
		}
		a := t.get(r.Work.ID, r.Work.Spec)
		if !a.pinned && r.Work.Spec != nil {
			a.spec, a.pinned = r.Work.Spec, true
			t.d.pin(a.spec.Inputs)
		}
		if a.left == nil && r.Work.Result != nil { // for its origin to fetch
			a.left = r.Work.Result.Blobs(nil)
			t.d.pin(a.left)
		}
	case grid.RecJob:
		t.savedJob(r)
	case grid.RecTask:
		t.savedTask(r)
	}
}

func (t *tasks) savedJob(r *grid.Record) {
	spec := t.jobs[r.Job.ID]
	switch {
	case !r.Delete && spec == nil && r.Job.Spec != nil:
		t.jobs[r.Job.ID] = r.Job.Spec
		t.d.pin(r.Job.Spec.Inputs)
	case r.Delete && spec != nil:
		delete(t.jobs, r.Job.ID)
		t.d.unpin(spec.Inputs)
		for i := range spec.Count {
			t.unpinResult(grid.TaskID{Job: r.Job.ID, Index: i})
		}
	}
}

func (t *tasks) savedTask(r *grid.Record) {
	id := r.Task.ID.Task
	t.unpinResult(id)
	if r.Delete || r.Task.Result == nil {
		return
	}
	if files := r.Task.Result.Blobs(nil); len(files) > 0 {
		t.results[id] = files
		t.d.pin(files)
	}
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
