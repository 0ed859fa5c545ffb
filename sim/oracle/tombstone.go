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
