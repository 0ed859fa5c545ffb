package coordinator

import (
	"cmp"
	"strings"

	"skep/grid"
	"skep/node/coordinator/archive"
	"skep/node/dependency"
	"skep/node/quota"
	"skep/sparse"
)

// finished are the jobs that are over.
type finished struct {
	packing       []*job   // to be packed after this step
	tallies       []*job   // ends of them that were counted do not count any more
	packedReplica *replica // of each unpacked job; nil = none was unpacked yet
	archive       archive.List[packedJob, *packedJob]
}

// Hole implements [archive.Job].
func (f *packedJob) Hole() bool { return f.open == nil && f.spec == nil }

// Packed implements [archive.Job].
func (f *packedJob) Packed() bool { return f.open == nil }

// Is implements [archive.Job].
func (f *packedJob) Is(id grid.JobID) bool {
	if f.nonce != noncePrefix(id) {
		return false
	}
	if f.open != nil {
		return f.open.id == id
	}
	return strings.HasPrefix(f.packed, string(id.Nonce[:]))
}

// ID implements [archive.Job]. Only jobs submitted at self are packed.
func (f *packedJob) ID(self grid.NodeID) grid.JobID {
	if f.open != nil {
		return f.open.id
	}
	id := grid.JobID{Origin: self}
	copy(id.Nonce[:], f.packed)
	return id
}

// Tasks implements [archive.Job].
func (f *packedJob) Tasks() int {
	if f.open != nil {
		return f.open.size()
	}
	return int(f.spec.Count)
}

// archiveAndTrim archives a finished job and deletes the oldest ones beyond Config.Keep tasks. Of those that others
// wait for it keeps some, as if they had ended last.
func (c *Coordinator) archiveAndTrim(j *job, fx *grid.Effects) {
	c.archiveJob(j)
	for kept := 0; c.archive.Tasks > c.cfg.Keep && c.archive.Len() > 1; {
		first := c.archive.Shift(c.cfg.Self)
		most := min(dependency.MaxKept, c.archive.Len())
		if id := first.ID(c.cfg.Self); kept < most && c.awaited.Keeps(id) {
			kept++
			c.archive.Add(c.cfg.Self, id, first)
			continue
		}
		old := c.unpack(&first, true)
		c.buryJob(old, fx)
	}
}

// forgetEntries deletes a job's entries from disk.
func (c *Coordinator) forgetEntries(j *job, fx *grid.Effects) {
	known := 0
	for range j.known() {
		known++
	}
	if j.spec.After.Each() >= 0 {
		known *= 2
	}
	if known > maxForgottenSingly {
		c.forgetEntry(j, 0, fx)
		fx.Saves[len(fx.Saves)-1].Entry.Further = j.spec.Entries() - 1
		return
	}
	for i := range j.known() {
		c.forgetEntry(j, i, fx)
	}
	c.forgetEntry(j, j.spec.Count, fx)
	for i := range j.replica.Written() {
		if i > j.spec.Count {
			c.forgetEntry(j, i, fx)
		}
	}
}

func (c *Coordinator) forgetEntry(j *job, i uint32, fx *grid.Effects) {
	rec := fx.Save(grid.RecEntry)
	rec.Delete = true
	rec.Entry.ID.Task = grid.TaskID{Job: j.id, Index: i}
}

// maxForgottenSingly is the number of a job's entries up to which each is deleted by a record of its own.
const maxForgottenSingly = 1000

// buryJob forgets a job that is over, but for its tombstone.
func (c *Coordinator) buryJob(j *job, fx *grid.Effects) {
	j.replica.Bury(max(j.done, j.submitted), fx)
	c.forgetJob(j, fx)
}

// forgetJob deletes a job from memory and disk.
func (c *Coordinator) forgetJob(j *job, fx *grid.Effects) {
	c.forgetGang(j)
	j.refuseRetries(fx)
	c.forgetEntries(j, fx)
	rec := fx.Save(grid.RecRegister)
	rec.Delete, rec.Register.ID = true, j.id
	c.deposits.Release(&j.replica.files)
	c.quota.Forget(j.id)
	c.jobs.Drop(j.id)
}

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
	size := quota.Amount{Bytes: quota.AttemptBytes(o.Spec, o.Places, o.Before), Offers: 1}
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
		if f.Index >= j.spec.Entries() {
			continue
		}
		if v, _ := j.replica.Value(f.Index); v != nil &&
			!v.OlderThan(cmp.Or(epoch, f.Epoch), f.Round) { // a repeated entry costs nothing
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
		at, j := c.archive.Find(id), c.jobs.Get(id)
		evicted += j.counts[grid.Ended]
		c.buryJob(j, fx)
		c.archive.Remove(c.cfg.Self, at)
	}
	if c.quota.Crowded(who, size) {
		return "room is being made"
	}
	return ""
}

// admitTasks returns why tasks of a job that was over must not be stored as those of one that is not; "" = they may.
func (c *Coordinator) admitTasks(who quota.Parties, tasks int) string {
	return c.quota.Admit(who, quota.Amount{Registers: 1, Tasks: tasks})
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
