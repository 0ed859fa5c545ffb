package oracle

import (
	"cmp"
	"slices"

	"skep/grid"
)

// keptRecord is the record of a checkpoint on a node's disk.
type keptRecord struct {
	unit int32
	rec  grid.CheckpointRecord
	gone bool // it was deleted

	// Its deletion waits for a later write. To the node it is gone, but a restart before that write finds it.
	leaves bool
}

// deleteCheckpoints takes which records of checkpoints a node deletes in a step.
func (b *Books) deleteCheckpoints(i int32, fx *grid.Effects) {
	d := &b.machines[i].disk
	for k := range fx.Saves {
		r := &fx.Saves[k]
		if r.Kind != grid.RecCheckpoint || !r.Delete {
			continue
		}
		if at, found := d.findCheckpoint(b.task(i, r.Checkpoint.ID.Task)); found {
			d.checkpoints[at].leaves = true
		}
	}
}

func (d *disk) findCheckpoint(unit int32) (at int, found bool) {
	return slices.BinarySearchFunc(d.checkpoints, unit, func(r keptRecord, unit int32) int {
		return cmp.Compare(r.unit, unit)
	})
}

// checkpoint returns the checkpoint of a task or gang that is on the disk.
func (d *disk) checkpoint(unit int32) (x reached) {
	if at, found := d.findCheckpoint(unit); found && !d.checkpoints[at].gone && !d.checkpoints[at].leaves {
		r := &d.checkpoints[at].rec
		x = reached{r.ID.Attempt, r.Step}
	}
	return x
}

// hadCheckpoint returns that which was on the disk last.
func (d *disk) hadCheckpoint(unit int32) (x reached) {
	if at, found := d.findCheckpoint(unit); found {
		r := &d.checkpoints[at].rec
		x = reached{r.ID.Attempt, r.Step}
	}
	return x
}

// storeCheckpoint makes the record of a checkpoint durable, or deletes it.
func (b *Books) storeCheckpoint(i int32, r *grid.Record) {
	k := b.task(i, r.Checkpoint.ID.Task)
	if k < 0 {
		return
	}
	d := &b.machines[i].disk
	at, found := d.findCheckpoint(k)
	switch {
	case found && r.Delete:
		d.checkpoints[at].gone = true
	case found:
		d.checkpoints[at] = keptRecord{unit: k, rec: *r.Checkpoint}
	case !r.Delete:
		d.checkpoints = slices.Insert(d.checkpoints, at, keptRecord{unit: k, rec: *r.Checkpoint})
	}
}

// checkpointRecords appends the records of checkpoints.
func (d *disk) checkpointRecords(dst []grid.Record) []grid.Record {
	for i := range d.checkpoints {
		if d.checkpoints[i].leaves = false; d.checkpoints[i].gone {
			continue
		}
		rec := d.checkpoints[i].rec
		dst = append(dst, grid.Record{Kind: grid.RecCheckpoint, Checkpoint: &rec})
	}
	return dst
}
