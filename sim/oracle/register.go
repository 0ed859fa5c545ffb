package oracle

import (
	"cmp"
	"slices"

	"skep/grid"
	"skep/sim/oracle/seats"
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
	if !r.Delete {
		b.noteMembers(i, n, &r.Register)
	}
	switch {
	case ok && r.Delete:
		d.replicas = slices.Delete(d.replicas, at, at+1)
	case ok:
		d.replicas[at].rec = r.Register
	case !r.Delete:
		d.replicas = slices.Insert(d.replicas, at, &replica{job: n, rec: r.Register, entries: make([]grid.EntryRecord,
			b.jobs[n].spec.Entries())})
	}
}

// noteMembers takes note of what a node's disk is about to say of who keeps a submission.
func (b *Books) noteMembers(i, n int32, g *grid.RegisterRecord) {
	j := &b.jobs[n]
	if j.register == 0 {
		b.registers = append(b.registers, &seats.Register{})
		j.register = int32(len(b.registers))
	}
	r, was := b.registers[j.register-1], (*grid.Membership)(nil)
	r.First = g.Members
	if x := b.replicaOf(i, n); x != nil {
		was = x.rec.Set
	}
	if err := r.Save(b.world.ID(i), was, g.Set); err != nil {
		b.fail(i, "%v, in the register of submission %d", err, n)
	}
}

// seatsOf is who decides about a submission's register, by what is on a node's disk.
func (b *Books) seatsOf(i, n int32) seats.Seats {
	if x := b.replicaOf(i, n); x != nil {
		return seats.Of(b.members(&b.jobs[n]), x.rec.Set)
	}
	return seats.Of(b.members(&b.jobs[n]), nil)
}

// ownersSeats is who decides about it as the owner knows the members that node i follows.
func (b *Books) ownersSeats(i, n int32) seats.Seats {
	if x := b.replicaOf(i, n); x != nil && b.world.Index(x.rec.Owner) >= 0 {
		i = b.world.Index(x.rec.Owner)
	}
	return b.seatsOf(i, n)
}

// newestSeats is who decides about it by the newest membership on the disks of nodes that are up.
func (b *Books) newestSeats(n int32) seats.Seats {
	newest := (*grid.Membership)(nil)
	for _, id := range b.everKept(n) {
		i := b.world.Index(id)
		if x := b.replicaOf(i, n); x != nil && b.up(i) && seats.Newer(x.rec.Set, newest) {
			newest = x.rec.Set
		}
	}
	return seats.Of(b.members(&b.jobs[n]), newest)
}

// everKept lists the nodes whose disks have had a submission's register.
func (b *Books) everKept(n int32) []grid.NodeID {
	if at := b.jobs[n].register; at != 0 {
		return b.registers[at-1].Ever
	}
	return nil
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
		b.noteEnded(i, n, &r.Entry)
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
