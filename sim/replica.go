package sim

import (
	"cmp"
	"slices"

	"skep/grid"
)

// replica is what a node's disk holds of the register of a job of which it is a member.
type replica struct {
	job     int32
	rec     grid.RegisterRecord
	entries []grid.EntryRecord // by index; the last is the cancellation. State 0 = none
}

// replicaOf returns a node's durable replica of a submission's register; nil = none.
func (w *World) replicaOf(i, n int32) *replica {
	d := &w.hosts[i].disk
	if at, ok := slices.BinarySearchFunc(d.replicas, n, func(x *replica, n int32) int { return cmp.Compare(x.job, n) }); ok {
		return d.replicas[at]
	}
	return nil
}

// storeRegister makes a register's record durable.
func (w *World) storeRegister(i int32, r *grid.Record) {
	n := w.job(i, r.Register.ID)
	if n < 0 {
		return
	}
	d := &w.hosts[i].disk
	at, ok := slices.BinarySearchFunc(d.replicas, n, func(x *replica, n int32) int { return cmp.Compare(x.job, n) })
	switch {
	case ok && r.Delete:
		d.replicas = slices.Delete(d.replicas, at, at+1)
	case ok:
		d.replicas[at].rec = *r.Register
	case !r.Delete:
		d.replicas = slices.Insert(d.replicas, at, &replica{job: n, rec: *r.Register, entries: make([]grid.EntryRecord, w.jobs[n].count+1)})
		j := &w.jobs[n]
		if j.register == 0 {
			w.registers = append(w.registers, nil)
			j.register = int32(len(w.registers))
		}
		w.registers[j.register-1] = r.Register.Members
	}
}

// storeEntry makes an entry durable.
func (w *World) storeEntry(i int32, r *grid.Record) {
	n := w.job(i, r.Entry.ID.Task.Job)
	if n < 0 {
		return
	}
	x := w.replicaOf(i, n)
	switch {
	case x == nil && !r.Delete:
		w.failf(i, "saves an entry of submission %d, whose register is not on its disk", n)
	case x != nil && r.Delete:
		x.entries[r.Entry.ID.Task.Index] = grid.EntryRecord{}
	case x != nil:
		x.entries[r.Entry.ID.Task.Index] = *r.Entry
		if at := r.Entry.ID.Task.Index; at < uint32(w.jobs[n].count) {
			w.checkBackupPair(i, w.jobs[n].first+int32(at), &r.Entry.TaskRecord)
		}
		w.checkFinal(i, n, r.Entry)
	}
}

// registers appends the records of a disk's replicas.
func (d *disk) registers(records []grid.Record) []grid.Record {
	for _, x := range d.replicas {
		records = append(records, grid.Record{Kind: grid.RecRegister, Register: &x.rec})
		for k := range x.entries {
			if x.entries[k].State != 0 {
				records = append(records, grid.Record{Kind: grid.RecEntry, Entry: &x.entries[k]})
			}
		}
	}
	return records
}

// checkRegister checks the record of a register: promised and accepted epochs never go back, and an epoch has one
// owner.
func (w *World) checkRegister(i int32, r *grid.Record) {
	n := w.job(i, r.Register.ID)
	if n < 0 || r.Delete {
		return
	}
	g := r.Register
	if x := w.replicaOf(i, n); x != nil && (g.Promised < x.rec.Promised || g.Epoch < x.rec.Epoch || x.rec.Done && !g.Done) {
		w.failf(i, "goes back in the register of submission %d: promised %d, accepted %d, after %d and %d", n, g.Promised, g.Epoch, x.rec.Promised, x.rec.Epoch)
	}
	for _, id := range g.Members {
		if x := w.replicaOf(w.index(id), n); x != nil && x.rec.Epoch == g.Epoch && x.rec.Owner != g.Owner && g.Epoch > 0 {
			w.failf(i, "takes n%d for the owner of epoch %d of submission %d, and n%d takes n%d for it", w.index(g.Owner), g.Epoch, n, w.index(id), w.index(x.rec.Owner))
		}
	}
}

// countHolders counts the members of a submission's register whose disks have a task's end by that attempt.
func (w *World) countHolders(n int32, a grid.AttemptID) (held int) {
	for _, id := range w.members(&w.jobs[n]) {
		if x := w.replicaOf(w.index(id), n); x != nil && x.entries[a.Task.Index].Epoch > 0 && x.entries[a.Task.Index].ID == a {
			held++
		}
	}
	return held
}

// checkFinal checks an entry that a node calls final (committed): a majority of the members' disks have it, and no
// other value was final before.
func (w *World) checkFinal(i, n int32, e *grid.EntryRecord) {
	j := &w.jobs[n]
	members := w.members(j)
	if !e.Committed || e.ID.Task.Index >= uint32(j.count) {
		return
	}
	held := w.countHolders(n, e.ID)
	k := j.first + int32(e.ID.Task.Index)
	t := &w.tasks[k]
	switch {
	case t.state == grid.Ended && (t.last != e.ID.Attempt || t.result.Cause != e.Result.Cause || t.result.Exit != e.Result.Exit):
		w.failf(i, "records the end of %s with attempt %v (%v), and with attempt %v (%v) it was final", w.taskName(k), e.ID.Attempt, e.Result.Cause, t.last, t.result.Cause)
	case t.state == grid.Ended:
	case held < len(members)/2+1:
		w.failf(i, "says that the end of %s is final, which %d of %d members hold", w.taskName(k), held, len(members))
	case e.Result.Error == "" && !w.majorityHasFiles(members, e.Result.Blobs(nil)):
		w.failf(i, "says that the end of %s is final, and no majority of the members has what it left", w.taskName(k))
	default:
		t.state, t.last, t.worker, t.result, t.ended = grid.Ended, e.ID.Attempt, w.index(e.Worker), e.Result.Brief(), w.now
		if w.settled && w.mustEnd(j) {
			w.tasksLeft--
		}
	}
}

// checkOffers checks offers when they are made: only one node may act as a job's owner, and none offers once the
// cancellation was acknowledged.
func (w *World) checkOffers(i int32) {
	for k := range w.fx.Sends {
		m := &w.fx.Sends[k].Msg
		if m.Kind != grid.KindOffer {
			continue
		}
		n := w.job(i, m.Offer.ID.Task.Job)
		if n < 0 {
			return
		}
		j := &w.jobs[n]
		if j.cancelAnswered {
			w.failf(i, "offers attempt %v of submission %d, which is cancelled", m.Offer.ID.Attempt, n)
		}
		for _, id := range m.Offer.Members {
			if o := w.index(id); o != i && w.mayAct(o, m.Offer.ID.Task.Job) {
				w.failf(i, "offers attempt %v of submission %d, and n%d acts as its owner too", m.Offer.ID.Attempt, n, o)
			}
		}
	}
}

// mayAct reports whether a node's own view is that it may act as a job's owner.
func (w *World) mayAct(i int32, id grid.JobID) bool {
	m, ok := w.hosts[i].member.(interface {
		MayAct(grid.Time, grid.JobID) bool
	})
	return ok && m.MayAct(w.local(i), id)
}

// majorityUp reports whether a majority of the members of a register is up.
func (w *World) majorityUp(members []grid.NodeID) bool {
	up := 0
	for _, id := range members {
		if w.hosts[w.index(id)].up {
			up++
		}
	}
	return up > len(members)/2
}

// majorityHolds reports whether a majority of the members' disks have the register of a submission.
func (w *World) majorityHolds(n int32) bool {
	held, members := 0, w.members(&w.jobs[n])
	for _, id := range members {
		if x := w.replicaOf(w.index(id), n); x != nil && x.rec.Epoch > 0 {
			held++
		}
	}
	return held > len(members)/2
}
