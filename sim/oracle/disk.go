package oracle

import (
	"cmp"
	"slices"

	"skep/grid"
)

// disk is a node's durable records. Those of a job and a task are kept with the job and the task; work records are in
// a table, chained by node and by task.
type disk struct {
	jobs      int32 // chain of the submissions with this origin, from 1
	workChain int32 // chain of work records, from 1
	workCount int32 // length of that chain
	classes   []grid.ClassRecord
	replicas  []*replica // sorted by submission
	tombs     []tomb     // sorted by submission

	checkpoints []keptRecord // sorted by task
}

// workRecord is the record of an accepted attempt on a node's disk.
type workRecord struct {
	rec        grid.WorkRecord
	node, task int32
	nodeChain  [2]int32 // previous and next in the node's chain, from 1; next also chains free entries
	nextOfTask int32    // next in the task's chain, from 1
}

// Save reports that records became durable on a node's disk, checks them and keeps them.
func (b *Books) Save(i int32, records []grid.Record) {
	d := &b.machines[i].disk
	for k := range records {
		r := &records[k]
		b.checkSave(i, r)
		switch r.Kind {
		case grid.RecWork:
			n := d.workCount
			b.storeWork(i, r)
			if j := b.task(i, r.Work.ID.Task); b.settled && j >= 0 && b.mustEnd(&b.jobs[b.tasks[j].job]) {
				b.recordsLeft += int(d.workCount - n)
			}
		case grid.RecRegister:
			if b.isSole(i, r) {
				b.storeJob(i, r)
			} else {
				b.storeRegister(i, r)
			}
			b.recount(i, r)
		case grid.RecEntry:
			if b.isSole(i, r) {
				b.storeTask(i, r)
			} else {
				b.storeEntry(i, r)
			}
		case grid.RecTombstone:
			b.storeTombstone(i, r)
			b.recount(i, r)
		case grid.RecCheckpoint:
			b.storeCheckpoint(i, r)
		case grid.RecClass:
			d.storeClass(&r.Class, r.Delete)
		}
	}
}

// workOf returns the index of a work record on a node's disk, from 1; 0 = none.
func (b *Books) workOf(i, task int32, id grid.AttemptID) int32 {
	for at := b.tasks[task].workChain; at != 0; at = b.workRecords[at-1].nextOfTask {
		if x := &b.workRecords[at-1]; x.node == i && x.rec.ID == id {
			return at
		}
	}
	return 0
}

func (b *Books) storeWork(i int32, r *grid.Record) {
	k := b.task(i, r.Work.ID.Task)
	if k < 0 {
		return
	}
	d := &b.machines[i].disk
	at := b.workOf(i, k, r.Work.ID)
	switch {
	case at != 0 && r.Delete:
		b.deleteWork(at)
	case at != 0:
		b.workRecords[at-1].rec = r.Work
	case !r.Delete:
		if b.freeRecord == 0 {
			b.workRecords = append(b.workRecords, workRecord{})
			b.freeRecord = int32(len(b.workRecords))
		}
		at = b.freeRecord
		x := &b.workRecords[at-1]
		b.freeRecord = x.nodeChain[1]
		*x = workRecord{rec: r.Work, node: i, task: k, nodeChain: [2]int32{0, d.workChain}, nextOfTask: b.tasks[k].workChain}
		if d.workChain != 0 {
			b.workRecords[d.workChain-1].nodeChain[0] = at
		}
		d.workChain, b.tasks[k].workChain = at, at
		d.workCount++
	}
}

func (b *Books) deleteWork(at int32) {
	x := &b.workRecords[at-1]
	d := &b.machines[x.node].disk
	if before := x.nodeChain[0]; before != 0 {
		b.workRecords[before-1].nodeChain[1] = x.nodeChain[1]
	} else {
		d.workChain = x.nodeChain[1]
	}
	if after := x.nodeChain[1]; after != 0 {
		b.workRecords[after-1].nodeChain[0] = x.nodeChain[0]
	}
	link := &b.tasks[x.task].workChain
	for *link != at {
		link = &b.workRecords[*link-1].nextOfTask
	}
	*link = x.nextOfTask
	d.workCount--
	*x = workRecord{nodeChain: [2]int32{0, b.freeRecord}}
	b.freeRecord = at
}

// storeClass makes the record of a class durable, or deletes it; sorted by name.
func (d *disk) storeClass(c *grid.ClassRecord, forget bool) {
	at, ok := slices.BinarySearchFunc(d.classes, c.Class, func(x grid.ClassRecord,
		name string) int {
		return cmp.Compare(x.Class, name)
	})
	switch {
	case ok && forget:
		d.classes = slices.Delete(d.classes, at, at+1)
	case ok:
		d.classes[at] = *c
	case !forget:
		d.classes = slices.Insert(d.classes, at, *c)
	}
}

// Records appends the durable records of a node to dst, in no order that a node may rely on.
func (b *Books) Records(i int32, dst []grid.Record) []grid.Record {
	d := &b.machines[i].disk
	for n := d.jobs; n != 0; n = b.jobs[n-1].nextOfOrigin {
		j := &b.jobs[n-1]
		if j.saved {
			dst = b.jobRecords(n-1, dst)
		}
		for k := j.first; k < j.first+j.count; k++ {
			if b.tasks[k].saved {
				dst = append(dst, b.taskRecord(k))
			}
		}
	}
	for at := d.workChain; at != 0; at = b.workRecords[at-1].nodeChain[1] {
		dst = append(dst, grid.Record{Kind: grid.RecWork, Work: b.workRecords[at-1].rec})
	}
	dst = d.checkpointRecords(d.registers(dst))
	for _, c := range d.classes {
		dst = append(dst, grid.Record{Kind: grid.RecClass, Class: c})
	}
	return dst
}
