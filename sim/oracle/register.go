package oracle

import (
	"cmp"
	"slices"

	"skep/grid"
)

// replica is what a node's disk holds of the register of a job of which it is a member.
type replica struct {
	job     int32
	rec     grid.RegisterRecord
	entries []grid.EntryRecord // by index; after the tasks the cancellation, and what it waits for. State 0 = none
}

// replicaOf returns a node's durable replica of a submission's register; nil = none.
func (b *Books) replicaOf(i, n int32) *replica {
	d := &b.machines[i].disk
	if at, ok := slices.BinarySearchFunc(d.replicas, n, func(x *replica, n int32) int {
		return cmp.Compare(x.job,
			n)
	}); ok {
		return d.replicas[at]
	}
	return nil
}

// storeRegister makes a register's record durable.
func (b *Books) storeRegister(i int32, r *grid.Record) {
	n := b.job(i, r.Register.ID)
	if n < 0 {
		return
	}
	d := &b.machines[i].disk
	at, ok := slices.BinarySearchFunc(d.replicas, n, func(x *replica, n int32) int { return cmp.Compare(x.job, n) })
	switch {
	case ok && r.Delete:
		d.replicas = slices.Delete(d.replicas, at, at+1)
	case ok:
		d.replicas[at].rec = r.Register
	case !r.Delete:
		d.replicas = slices.Insert(d.replicas, at, &replica{job: n, rec: r.Register, entries: make([]grid.EntryRecord,
			b.jobs[n].spec.Entries())})
		j := &b.jobs[n]
		if j.register == 0 {
			b.registers = append(b.registers, nil)
			j.register = int32(len(b.registers))
		}
		b.registers[j.register-1] = r.Register.Members
	}
}

// storeEntry makes an entry durable.
func (b *Books) storeEntry(i int32, r *grid.Record) {
	n := b.job(i, r.Entry.ID.Task.Job)
	if n < 0 {
		return
	}
	x := b.replicaOf(i, n)
	switch {
	case x == nil && !r.Delete:
		b.fail(i, "saves an entry of submission %d, whose register is not on its disk", n)
	case x != nil && r.Delete:
		first := r.Entry.ID.Task.Index
		clear(x.entries[first : first+1+r.Entry.Further])
	case x != nil:
		if at := r.Entry.ID.Task.Index; at < uint32(b.jobs[n].count) {
			b.checkMove(i, b.jobs[n].first+int32(at), &r.Entry.TaskRecord, x.entries[at].TaskRecord)
		}
		x.entries[r.Entry.ID.Task.Index] = r.Entry
		if at := r.Entry.ID.Task.Index; at < uint32(b.jobs[n].count) {
			b.checkBackupPair(i, b.jobs[n].first+int32(at), &r.Entry.TaskRecord)
		}
		b.checkEntryRound(i, n, &r.Entry)
		b.checkRunning(i, n, &r.Entry)
		b.noteEnded(n, &r.Entry)
		b.checkFinal(i, n, &r.Entry)
		if s := b.jobs[n].spec; r.Entry.ID.Task.Index > s.Count && !s.IsTally(r.Entry.ID.Task.Index) {
			b.checkDependency(i, n, &r.Entry)
		}
	}
}

// registers appends the records of a disk's replicas.
func (d *disk) registers(records []grid.Record) []grid.Record {
	for _, x := range d.tombs {
		records = append(records, grid.Record{Kind: grid.RecTombstone, Tombstone: x.rec})
	}
	for _, x := range d.replicas {
		records = append(records, grid.Record{Kind: grid.RecRegister, Register: x.rec})
		for k := range x.entries {
			if x.entries[k].State != 0 {
				records = append(records, grid.Record{Kind: grid.RecEntry, Entry: x.entries[k]})
			}
		}
	}
	return records
}
