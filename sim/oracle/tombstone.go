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
	n, members := b.tasks[j.first].job, b.members(j)
	opened, take := b.openings(n, members), 0
	for _, id := range members {
		i := b.world.Index(id)
		at, buried := b.machines[i].disk.findTombstone(n)
		if b.up(i) && (!buried || b.machines[i].disk.tombs[at].rec.Opened >= opened) {
			take++
		}
	}
	return take > len(members)/2
}

// openings is how often a register was opened for retries, as members that are up have it on disk.
func (b *Books) openings(n int32, members []grid.NodeID) (most uint32) {
	for _, id := range members {
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

// recount counts again what must end if a record says that a register was opened, or was evicted after it was:
// members may take part in it no more.
func (b *Books) recount(i int32, r *grid.Record) {
	id, opened := r.Register.ID, r.Register.Opened
	if r.Kind == grid.RecTombstone {
		id, opened = r.Tombstone.ID, 1
	}
	if n := b.job(i, id); b.settled && !r.Delete && opened > 0 && n >= 0 && b.jobs[n].register != 0 &&
		b.openings(n, b.members(&b.jobs[n])) > 0 {
		b.countLeft()
	}
}

// canLearn reports whether the members that are up must have learnt how a job ended: one of them has the outcome, or a
// majority has its entries. A member with a tombstone has none.
func (b *Books) canLearn(n int32, members []grid.NodeID) bool {
	if n < 0 || !slices.ContainsFunc(members, func(id grid.NodeID) bool { return b.buried(b.world.Index(id), n) }) {
		return b.majorityUp(members)
	}
	have := 0
	for _, id := range members {
		i := b.world.Index(id)
		if !b.up(i) || b.buried(i, n) {
			continue
		}
		if x := b.replicaOf(i, n); x != nil && x.rec.Done {
			return true
		}
		have++
	}
	return have > len(members)/2
}
