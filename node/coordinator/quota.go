package coordinator

import (
	"cmp"

	"skep/grid"
	"skep/node/quota"
	"skep/sparse"
)

// What this node stores for others is charged to the node that answers for it before any of it is saved or allocated:
// see package quota. Jobs of its own are not charged.

// Estimated memory for stored objects, without their strings; the size on disk is smaller.
const (
	jobBytes        = 4 * grid.KiB           // a job and its register, with their entries in maps and lists
	leafBytes       = sparse.Leaf * 240      // a leaf of tasks and of entries, without what they point to
	entryBytes      = grid.Bytes(700)        // the entry of a task that ended without having run
	typicalJobBytes = jobBytes + 64*grid.KiB // a job of ordinary size
)

// Bounds of one step: after a start far more may be stored than the quota allows, and each of the jobs evicted to make
// room may have many records.
const (
	maxEvictionsPerStep = 256
	maxEvictedRecords   = 2000 // no further job is evicted then
)

// footprint is what a register is charged for.
type footprint struct {
	base       grid.Bytes // without its entries
	endedTasks uint32     // tasks charged among the ended jobs; 0 = all
}

// admitJob returns why a job of this sender must not be stored; "" = it may, and then there is room.
func (c *Coordinator) admitJob(id grid.JobID, spec *grid.JobSpec, from grid.NodeID, fx *grid.Effects) string {
	return c.admit(quota.PartiesOf(id, from), quota.Amount{Bytes: jobBytes + quota.SpecBytes(spec), Registers: 1,
		Tasks: int(spec.Count)}, fx)
}

// AdmitOffer returns why an attempt must not be accepted from a node; WhyNone = it may.
func (c *Coordinator) AdmitOffer(from grid.NodeID, o *grid.Offer, fx *grid.Effects) grid.Refusal {
	if from == c.cfg.Self {
		return grid.Refusal{}
	}
	size := quota.Amount{Bytes: quota.OfferBytes + quota.SpecBytes(o.Spec), Offers: 1}
	full := c.admit(quota.PartiesOf(o.ID.Task.Job, from), size, fx)
	if full == "" {
		return grid.Refusal{}
	}
	c.stats.Full++
	return grid.Refusal{Why: grid.WhyQueue, Detail: full}
}

// admitEntries returns why entries of a job's register, written in an epoch or sent with a vote (epoch 0), must not be
// stored; "" = they may.
func (c *Coordinator) admitEntries(j *job, entries []grid.Entry, epoch uint32, fx *grid.Effects) string {
	who, known := c.quota.Of(j.id)
	if !known || len(entries) == 0 {
		return ""
	}
	bytes, last := grid.Bytes(0), ^uint32(0)
	for k := range entries {
		f := &entries[k]
		if f.Index > j.spec.Count {
			continue
		}
		if v, _ := j.replica.Value(f.Index); v != nil && v.Epoch >= cmp.Or(epoch, f.Epoch) { // a repeated entry costs nothing
			continue
		}
		bytes += grid.Bytes(f.Weight())
		if leaf := f.Index / sparse.Leaf; leaf != last && j.replica.NeedsLeaf(f.Index) {
			bytes, last = bytes+leafBytes, leaf
		}
	}
	return c.admit(who, quota.Amount{Bytes: bytes}, fx)
}

// admit returns why something must not be stored; "" = it may, after evicting the oldest finished jobs if need be.
func (c *Coordinator) admit(who quota.Parties, size quota.Amount, fx *grid.Effects) string {
	if why := c.quota.Admit(who, size); why != "" {
		return why
	}
	evicted := 0
	for k := 0; k < maxEvictionsPerStep && evicted < maxEvictedRecords; k++ {
		id, found := c.quota.Oldest(who, size)
		if !found {
			return ""
		}
		at, j := c.archive.find(id), c.jobs.Get(id)
		evicted += j.counts[grid.Ended]
		c.buryJob(j, fx)
		c.archive.remove(c.cfg.Self, at)
	}
	if c.quota.Crowded(who, size) {
		return "room is being made"
	}
	return ""
}

// chargeJob charges a job that a node sent here.
func (c *Coordinator) chargeJob(j *job, from grid.NodeID) {
	c.quota.Keep(j.id, quota.PartiesOf(j.id, from), quota.Amount{Bytes: j.replica.base, Registers: 1, Tasks: j.count()})
	c.rechargeJob(j)
}

// rechargeJob updates a job's charge after a write.
func (c *Coordinator) rechargeJob(j *job) {
	if rep := j.replica; !c.isOrigin(j.id) {
		c.quota.Resize(j.id, rep.base+rep.Bytes()+grid.Bytes(max(rep.Leaves(),
			j.tasks.Leaves()))*leafBytes+rep.files.ResultBytes())
	}
}

// QuotaLeft is the remaining quota in a keepalive's answer: 0 = a job of any size is stored; else the most tasks that a
// job may have, plus one.
func (c *Coordinator) QuotaLeft(id grid.NodeID) uint32 {
	left := c.quota.Left(quota.Parties{Origin: id, Sender: id})
	switch {
	case left.Bytes < typicalJobBytes || left.Registers < 1 || left.Tasks < 1:
		return 1
	case left.Tasks >= grid.MaxCount:
		return 0
	}
	return uint32(left.Tasks) + 1
}
