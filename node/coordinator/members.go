package coordinator

import (
	"slices"
	"time"

	"skep/grid"
	"skep/node/coordinator/offered"
	"skep/node/coordinator/register"
	"skep/node/membership"
)

// Members that are dead for long are replaced: ../replication/DESIGN.md.

// replaceMembers goes on, as a job's owner, with the replacement of a member, or begins one if a member has not
// answered for Tuning.ReplaceAfter. One job replaces one member at a time, and a job with secrets none: their holders
// check votes by its first members.
func (c *Coordinator) replaceMembers(now grid.Time, j *job, fx *grid.Effects) {
	rep := j.replica
	if c.cfg.ReplaceAfter == 0 || len(j.spec.Secrets) > 0 || !c.mayAct(now, j) || rep.graceUntil != 0 {
		return
	}
	able := c.peers.Candidates(j.spec.ReplacementFeatures())
	for _, ad := range able {
		if rep.Place(ad.Node) >= 0 {
			rep.NoteAble(ad.Node)
		}
	}
	rep.Advance(now, fx)
	c.followRegisters(now, fx)
	if now < rep.tellUntil {
		c.tellWorkers(j, fx)
	}
	dead := rep.DeadMember(now, max(c.cfg.ReplaceAfter, 3*c.cfg.Lease))
	if dead.IsZero() || c.peers.Connected(dead) {
		return
	}
	stay := []*grid.Ad{c.gossip.Ad()}
	for _, id := range rep.Members() {
		if p := c.gossip.Peer(id); p != nil && p.Ad != nil && id != dead {
			stay = append(stay, p.Ad)
		}
	}
	next := membership.Successor(j.id, stay, able, func(id grid.NodeID) bool {
		return rep.Place(id) >= 0 || rep.Declined(id) || c.isHere(id)
	})
	if !next.IsZero() {
		rep.Admit(now, dead, next)
	}
}

// membersChanged follows a change of who keeps a job. The owner has the newcomer store the job's files, and tells the
// workers: they follow a new owner only if they know it as a member.
func (c *Coordinator) membersChanged(now grid.Time, j *job, fx *grid.Effects) {
	rep := j.replica
	set := rep.State().Set
	c.changed(grid.JobChange{Kind: grid.JobClaimed, Job: j.id, From: j.ownerKnown(), Set: set})
	if !rep.IsOwner() {
		return
	}
	if !set.Settled() {
		rep.files.MemberReplaced(int(set.At))
	}
	c.askDeposits(now, j, fx)
	rep.tellUntil = now.Add(5 * c.cfg.Lease)
	c.tellWorkers(j, fx)
}

// tellWorkers tells the workers of a job's attempts who keeps it. It is said at each change, and again while they may
// not have heard.
func (c *Coordinator) tellWorkers(j *job, fx *grid.Effects) {
	var workers []grid.NodeID
	for _, t := range j.tasks.Known() {
		if t.Live != nil && t.Live.HasWorker() {
			workers = append(workers, t.Worker)
			if b := t.Live.backup; b != nil {
				workers = append(workers, b.worker)
			}
		}
	}
	slices.SortFunc(workers, grid.NodeID.Compare)
	for _, id := range slices.Compact(workers) {
		c.redirect(id, j, fx)
	}
}

// reachMembers requests connections to the members of a job's register, and returns those that are connected or being
// dialled; valid until the next call.
func (c *Coordinator) reachMembers(now grid.Time, j *job, fx *grid.Effects) []grid.NodeID {
	c.scratch.reached = c.scratch.reached[:0]
	for _, id := range j.replica.Places() {
		if c.peers.Reach(now, j.id, id, fx) {
			c.scratch.reached = append(c.scratch.reached, id)
		}
	}
	return c.scratch.reached
}

// secretRetry is how often the holders of a secret that are not connected are dialled for a task that needs it.
const secretRetry = 2 * time.Second

// awaitsSecret parks a task of which a secret is held by no connected node, and reports whether it did. One task of a
// job tries for all. An attempt that was planned, and may have been told of, goes on: its worker hands it back.
func (c *Coordinator) awaitsSecret(now grid.Time, l *liveTask, fx *grid.Effects) bool {
	u := l.job.spec.Unheld(c.peers.Connected)
	if u == nil || l.planned {
		return false
	}
	names := ""
	for _, id := range u.Holders {
		c.peers.Reach(now, l.job.id, id, fx)
		names += " " + c.peers.Name(id)
	}
	detail := "secret " + u.Name + " is held by" + names
	c.waitFor(now, l, secretRetry, grid.Refusal{Why: grid.WhySecret, Detail: clip(detail)}, fx)
	return true
}

// members returns the members of the job's register for an offer; nil = this node alone has it.
func (j *job) members() []grid.NodeID {
	if j.replica.Sole() {
		return nil
	}
	return j.replica.Members()
}

// vouch has an offer name who keeps the job's register, and prove that and whose the attempt is.
func (j *job) vouch(o *grid.Offer, worker grid.NodeID) {
	o.Members, o.Changes = append(o.Members, j.members()...), j.replica.State().Set.Changes()
	j.replica.Prove(o, worker)
}

// MembersVerified reports whether the members that a node names for a job come from the job's origin, directly or
// through a verified replica.
func (c *Coordinator) MembersVerified(id grid.JobID, from grid.NodeID) bool {
	j := c.peekJob(id)
	return from == id.Origin || j != nil && j.replica.membersVerified
}

// OfferFrom takes notice that a job's origin offers an attempt here: it names the members of the register, and a
// replica that other members created here with other members is forged. It reports whether the sender may offer
// attempts of that epoch, as far as a register here knows.
func (c *Coordinator) OfferFrom(now grid.Time, from grid.NodeID, o *grid.Offer, fx *grid.Effects) bool {
	job := o.ID.Task.Job
	j := c.peekJob(job)
	if from == job.Origin && j != nil && !j.replica.membersVerified && o.Changes == 0 &&
		!slices.Equal(j.replica.First(), o.Members) {
		c.dropForgedReplica(now, j, fx)
		return true
	}
	return j == nil || j.replica.Sole() || j.replica.OfferedBy(from, o, fx)
}

// What the members hold before a task that may run at most once is offered (package offered).

// recordsOffers reports whether other members hold which tasks may have been offered.
func (j *job) recordsOffers() bool { return j.spec.RecordsOffers && !j.replica.Sole() }

// neverOffered reports whether no owner can have offered a task.
func (j *job) neverOffered(i uint32) bool {
	return j.recordsOffers() && !offered.May(j.spec, j.replica, i)
}

// mayOffer reports whether the members hold that a task may have been offered. If not, that is written, and resumes the
// job. Not before a new owner has ended what nobody reports: that goes by what its predecessors may have offered.
func (c *Coordinator) mayOffer(now grid.Time, j *job, i uint32, fx *grid.Effects) bool {
	rep := j.replica
	if !j.recordsOffers() || rep.offers.Covers(j.spec, rep, i) {
		return true
	}
	if rep.graceUntil == 0 && !rep.bulkEnd.On() {
		c.writeOffers(j, rep.offers.Grow(j.spec, rep, i, c.wall.At(now).UnixNano()), fx)
	}
	return false
}

// taskOffered has the members told ahead that the tasks after one that was offered may be offered too.
func (c *Coordinator) taskOffered(now grid.Time, j *job, i uint32, fx *grid.Effects) {
	if rep := j.replica; j.recordsOffers() && rep.graceUntil == 0 && !rep.bulkEnd.On() {
		rep.offers.Touch()
		c.writeOffers(j, rep.offers.GrowAhead(j.spec, rep, i, c.wall.At(now).UnixNano()), fx)
	}
}

// releaseOffers tells the members which tasks were not offered after all, of a job that has offered none for a while.
func (c *Coordinator) releaseOffers(now grid.Time, j *job, fx *grid.Effects) {
	rep := j.replica
	if !j.recordsOffers() || j.cancelled || rep.graceUntil != 0 || rep.bulkEnd.On() || !c.mayAct(now, j) {
		return
	}
	c.writeOffers(j, rep.offers.Shrink(j.spec, rep, c.wall.At(now).UnixNano(), func(i uint32) bool {
		return j.tasks.State(i) == grid.Pending
	}), fx)
}

// writeOffers writes which tasks may have been offered; nil = nothing is to be written.
func (c *Coordinator) writeOffers(j *job, e *grid.Entry, fx *grid.Effects) {
	if e != nil {
		j.replica.Propose(e)
		c.saveEntry(j, e.Index, fx)
		c.rechargeJob(j)
	}
}

// offersWritten has a job go on that waits for an entry of its register which a majority holds now.
func (c *Coordinator) offersWritten(j *job, entry uint32) {
	if j.recordsOffers() && entry == j.spec.OfferedEntry() {
		c.resumeWaiting(j)
	}
}

// Recorded returns what this node keeps of a job's register, and the ends of tasks as it shows them, from one index to
// before another: what its signatures can be checked by. All of it stays as it is.
func (v Views) Recorded(id grid.JobID, from, end uint32) (r grid.RegisterRecord, ends []grid.Entry, known bool) {
	j := v.c.peekJob(id)
	if j == nil {
		return r, nil, false
	}
	for i := from; i < min(end, j.spec.Count); i++ {
		if t := j.taskView(i); t.State == grid.Ended {
			ends = append(ends, grid.Entry{Index: i, Attempt: t.ID.Attempt, Worker: t.Worker, Result: t.Result})
		}
	}
	return register.RecordOf(id, j.spec, j.replica), ends, true
}
