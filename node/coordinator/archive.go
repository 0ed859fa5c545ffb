package coordinator

import (
	"skep/grid"
	"skep/node/coordinator/archive"
	"skep/node/coordinator/packed"
	"skep/node/coordinator/register"
	"skep/node/coordinator/retention"
	"skep/node/coordinator/tasks"
	"skep/node/dependency"
	"skep/node/quota"
)

// finished are the jobs that are over.
type finished struct {
	packing       []*job   // to be packed after this step
	tallies       []*job   // ends of them that were counted do not count any more
	packedReplica *replica // of each unpacked job; nil = none was unpacked yet
	archive       archive.List[archivedJob, *archivedJob]
	kept          retention.Groups
}

// Why jobs are forgotten here.
const byMembers, byAccount = retention.ByMembers, retention.ByAccount

// archivedJob is a finished job.
type archivedJob = archive.Entry[*job]

// Awaited are the jobs here that others wait for.
type Awaited interface{ Keeps(id grid.JobID) bool }

// archiveAndTrim archives a finished job and deletes the oldest ones beyond Config.Keep tasks. Of those that others
// wait for it keeps some, as if they had ended last.
func (c *Coordinator) archiveAndTrim(now grid.Time, j *job, fx *grid.Effects) {
	c.archiveJob(j, now)
	for kept := 0; c.archive.Tasks > c.cfg.Keep && c.archive.Len() > 1; {
		first := c.archive.Shift(c.cfg.Self)
		most := min(dependency.MaxKept, c.archive.Len())
		if id := first.ID(c.cfg.Self); kept < most && c.awaited.Keeps(id) {
			kept++
			c.archive.Add(c.cfg.Self, id, first)
			continue
		}
		old := c.unpack(&first, true)
		c.buryJob(old, retention.ByTasks, fx)
	}
}

// letGo deletes jobs that are over and beyond the operator's bounds, a few in each step.
func (c *Coordinator) letGo(now grid.Time, fx *grid.Effects) {
	left := retention.MostAtOnce
	for i := range c.kept.All() {
		s := &c.kept.All()[i]
		if !s.Due() {
			continue
		}
		for x, why := s.Next(now); x != nil && left > 0; x, why = s.Next(now) {
			left--
			j := c.peekJob(x.ID)
			if c.mustStay(now, j, s) {
				s.SetAside(now, x)
				continue
			}
			c.archive.Remove(c.cfg.Self, c.archive.Find(j.id))
			c.buryJob(j, why, fx)
		}
		if at, set := s.Looked(now); set {
			fx.Wake(at, grid.TimerRegister, keepKey)
		}
	}
}

// buryJob forgets a job that is over, but for its tombstone.
func (c *Coordinator) buryJob(j *job, why retention.Why, fx *grid.Effects) {
	c.kept.Gone.Note(j.id, j.spec.Name, why)
	j.replica.Bury(max(j.done, j.submitted), fx)
	c.forgetJob(j, fx)
}

// forgetJob deletes a job from memory and disk.
func (c *Coordinator) forgetJob(j *job, fx *grid.Effects) {
	c.forgetGang(j)
	j.replica.callers.RefuseRetries(j.id, fx)
	register.Forget(j.id, j.spec, j.tasks.Known(), j.replica, fx)
	c.deposits.Release(&j.replica.files)
	c.kept.Of(j.id).Forget(j.kept)
	c.quota.Forget(j.id)
	c.jobs.Drop(j.id)
}

// maxPackedTasks bounds the tasks of a packed job: any access unpacks the whole job, and a message about one task must
// not cost time in proportion to a large job.
const maxPackedTasks = 64

// packable reports whether a job is small and can no longer change, except by an event that unpacks it first. The
// failures of its tasks, what it waited for and has used, and the deadline that it missed are in its register, which a
// packed one does not have.
func (c *Coordinator) packable(j *job) bool {
	return j.count() <= maxPackedTasks && j.endsAreFinal() && len(j.spec.After.Jobs) == 0 && j.replica.Sole() &&
		!j.spec.Rules.Deadline.Some() && !j.spec.Rules.Budget.Some() && j.replica.State().Done && j.barrier == nil &&
		j.tasks.In(grid.Ended) == j.count() && c.isOrigin(j.id)
}

// packFinished packs the jobs that ended or were unpacked in this step.
func (c *Coordinator) packFinished() {
	for k, j := range c.packing {
		c.packing[k] = nil
		if at := c.archive.Find(j.id); at >= 0 && !c.archive.At(at).Packed() && c.packable(j) { // a job may be listed twice
			c.archive.At(at).Pack(c.pack(j))
			c.archive.Packed++
			c.jobs.Drop(j.id)
		}
	}
	c.packing = c.packing[:0]
}

// archiveJob puts a job that is over since ended into the archive; it is packed at the end of this step.
func (c *Coordinator) archiveJob(j *job, ended grid.Time) {
	c.forgetGang(j)
	if !c.isOrigin(j.id) {
		j.replica.endedTasks = max(j.tasks.Touched(), 1)
		c.quota.End(j.id, int(j.replica.endedTasks))
	}
	c.archive.Add(c.cfg.Self, j.id, archive.EntryOf(j, j.kept))
	c.packing = append(c.packing, j)
	c.deposits.Ended(&j.replica.files)
	if j.kept != nil {
		c.kept.Of(j.id).End(j.kept, ended, c.heldFiles(j))
	}
}

// job returns a job, nil if it is unknown. A packed job is unpacked for this step.
func (c *Coordinator) job(id grid.JobID) *job {
	if j := c.jobs.Get(id); j != nil || !c.isOrigin(id) {
		return j
	}
	at := c.archive.Find(id)
	if at < 0 {
		return nil
	}
	j := c.unpack(c.archive.At(at), true)
	*c.archive.At(at) = archive.EntryOf(j, j.kept)
	c.archive.Packed--
	c.jobs.Put(j)
	c.packing = append(c.packing, j)
	return j
}

// peekJob returns a job for reading only and leaves it packed; nil if it is unknown.
func (c *Coordinator) peekJob(id grid.JobID) *job {
	if j := c.jobs.Get(id); j != nil || !c.isOrigin(id) {
		return j
	}
	if at := c.archive.Find(id); at >= 0 {
		return c.unpack(c.archive.At(at), true)
	}
	return nil
}

func (c *Coordinator) pack(j *job) packed.Job {
	w := packed.Write(c.cfg.Self, c.wall, packed.Summary{ID: j.id, Spec: j.spec, Cancelled: j.cancelled,
		Submitted: j.submitted, Done: j.done, Arrived: j.arrived, QuietAt: j.quietAt, NextFresh: j.nextFresh,
		BackupFrom: j.backupFrom, Failed: j.Failed, Exit: j.Exit}, &c.scratch.packing)
	for i := range j.spec.Count {
		w.Task(&j.tasks.At(i).Kept)
	}
	return w.Job()
}

// unpack decodes a job: whole, or without its tasks for a summary.
func (c *Coordinator) unpack(f *archivedJob, whole bool) *job {
	if !f.Packed() {
		return f.Open
	}
	s, rest := f.Read(c.cfg.Self, c.wall)
	next := rest.Next
	if !whole {
		next = nil
	}
	j := &job{id: s.ID, spec: s.Spec, class: grid.ClassOf(s.Spec), replica: c.closedReplica(), cancelled: s.Cancelled,
		submitted: s.Submitted, arrived: s.Arrived, done: s.Done, backupFrom: s.BackupFrom,
		tasks: tasks.Ended[*liveTask](s.Spec.Count, next)}
	j.quietAt, j.nextFresh, j.Failed, j.Exit, j.kept = s.QuietAt, s.NextFresh, s.Failed, s.Exit, f.Kept
	return j
}

// What this node stores for others is charged to the node that answers for it before any of it is saved or allocated:
// see package quota. Jobs of its own are not charged.

// footprint is what a register is charged for.
type footprint struct {
	base       grid.Bytes // without its entries
	endedTasks uint32     // tasks charged among the ended jobs; 0 = all
}

// AdmitOffer returns why an attempt must not be accepted from a node; WhyNone = it may.
func (c *Coordinator) AdmitOffer(from grid.NodeID, o *grid.Offer, fx *grid.Effects) grid.Refusal {
	if why := c.peers.AcceptsNow(o.Spec); why.Why != grid.WhyNone || from == c.cfg.Self {
		return why
	}
	size := quota.Amount{Bytes: quota.AttemptBytes(o.Spec, o.Places, o.Before), Offers: 1}
	full := c.quota.MakeRoom(quota.PartiesOf(o.ID.Task.Job, from), size, c, fx)
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
	return c.quota.MakeRoom(who, quota.Amount{Bytes: quota.EntriesBytes(j.spec, entries, epoch, j.replica)}, c, fx)
}

// admitEnds returns why it must not be recorded of so many tasks of a job that they end without having run, or are run
// again; "" = it may.
func (c *Coordinator) admitEnds(j *job, tasks int) string {
	return c.quota.AdmitMore(j.id, grid.Bytes(tasks)*quota.EndBytes)
}

// Evict implements [quota.Keeper].
func (c *Coordinator) Evict(id grid.JobID, fx *grid.Effects) (records int) {
	at, j := c.archive.Find(id), c.jobs.Get(id)
	records = j.tasks.In(grid.Ended)
	c.buryJob(j, byAccount, fx)
	c.archive.Remove(c.cfg.Self, at)
	return records
}

// chargeJob charges a job that a node sent here.
func (c *Coordinator) chargeJob(j *job, from grid.NodeID) {
	c.quota.Keep(j.id, quota.PartiesOf(j.id, from), quota.Amount{Bytes: j.replica.base, Registers: 1, Tasks: j.count()})
	c.rechargeJob(j)
}

// rechargeJob updates a job's charge after a write.
func (c *Coordinator) rechargeJob(j *job) {
	if rep := j.replica; !c.isOrigin(j.id) {
		c.quota.Resize(j.id, rep.base+rep.Bytes()+quota.LeafBytes*grid.Bytes(max(rep.Leaves(), j.tasks.Leaves()))+
			rep.files.ResultBytes())
	}
}
