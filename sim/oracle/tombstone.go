package oracle

import (
	"cmp"
	"slices"

	"skep/grid"
)

// tomb is what a node's disk holds of a register that it has evicted.
type tomb struct {
	job int32
	rec grid.TombstoneRecord
}

func (d *disk) findTombstone(n int32) (int, bool) {
	return slices.BinarySearchFunc(d.tombs, n, func(x tomb, n int32) int { return cmp.Compare(x.job, n) })
}

// buried reports whether a node's disk says that it has evicted the register of a submission.
func (b *Books) buried(i, n int32) bool {
	_, found := b.machines[i].disk.findTombstone(n)
	return found
}

// storeTombstone makes a tombstone durable.
func (b *Books) storeTombstone(i int32, r *grid.Record) {
	n := b.job(i, r.Tombstone.ID)
	if n < 0 {
		return
	}
	d := &b.machines[i].disk
	at, found := d.findTombstone(n)
	switch {
	case found && r.Delete:
		d.tombs = slices.Delete(d.tombs, at, at+1)
	case found:
		d.tombs[at].rec = r.Tombstone
	case !r.Delete:
		d.tombs = slices.Insert(d.tombs, at, tomb{n, r.Tombstone})
	}
}

// majorityTakesPart reports whether a majority of the members of a job's register is up and takes part in it.
func (b *Books) majorityTakesPart(j *job) bool {
	n := b.tasks[j.first].job
	opened := b.openings(n)
	return b.newestSeats(n).Decide(func(id grid.NodeID) bool {
		i := b.world.Index(id)
		at, buried := b.machines[i].disk.findTombstone(n)
		return b.up(i) && (!buried || b.machines[i].disk.tombs[at].rec.Opened >= opened)
	})
}

// openings is how often a register was opened for retries, as members that are up have it on disk.
func (b *Books) openings(n int32) (most uint32) {
	for _, id := range b.everKept(n) {
		i := b.world.Index(id)
		if x := b.replicaOf(i, n); x != nil && b.up(i) {
			most = max(most, x.rec.Opened)
		}
		if at, buried := b.machines[i].disk.findTombstone(n); buried && b.up(i) {
			most = max(most, b.machines[i].disk.tombs[at].rec.Opened)
		}
	}
	return most
}

// recount counts again what must end if a record says that a register was opened, or was evicted after it was: members
// may take part in it no more; or that its members were replaced: others take part since.
func (b *Books) recount(i int32, r *grid.Record) {
	id, opened := r.Register.ID, r.Register.Opened
	if r.Kind == grid.RecTombstone {
		id, opened = r.Tombstone.ID, 1
	}
	if n := b.job(i, id); b.settled && !r.Delete && n >= 0 && b.jobs[n].register != 0 && (opened > 0 &&
		b.openings(n) > 0 || r.Kind == grid.RecRegister && r.Register.Set != nil) {
		b.countLeft()
	}
}

// canLearn reports whether the members that are up, as node i knows them, must have learnt how a job ended: one of them
// has the outcome, or a majority has its entries. A member with a tombstone has none.
func (b *Books) canLearn(i, n int32) bool {
	if n < 0 {
		return true
	}
	keep := b.seatsOf(i, n)
	if keep.Members == nil { // its origin alone keeps it
		return b.up(b.jobs[n].origin)
	}
	if !slices.ContainsFunc(keep.Members, func(id grid.NodeID) bool { return b.buried(b.world.Index(id), n) }) {
		return keep.Decide(func(id grid.NodeID) bool { return b.up(b.world.Index(id)) })
	}
	for _, id := range keep.Members {
		m := b.world.Index(id)
		if x := b.replicaOf(m, n); x != nil && x.rec.Done && b.up(m) && !b.buried(m, n) {
			return true
		}
	}
	return keep.Decide(func(id grid.NodeID) bool { return b.up(b.world.Index(id)) && !b.buried(b.world.Index(id), n) })
}
