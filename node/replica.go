package node

import (
	"slices"
	"time"

	"skep/grid"
	"skep/register"
)

// replica is this node's copy of the register of a job of which it is a member, as its owner or not.
type replica struct {
	reg               *register.Register
	acked             []grid.Time   // owner only, by place: send time of the last answered write of this epoch
	acceptedAt        []grid.Time   // owner only, by place: since when the member is known to have accepted this epoch
	writeSent         []grid.Time   // by place: first send time of the write under way; 0 = none
	submitters        []uint64      // callers to answer once a majority holds the job
	confirmBy         grid.Time     // deadline for answering them otherwise
	cancellers        []uint64      // callers to answer once the cancellation is committed
	owner             grid.NodeID   // as far as known here
	epoch             uint32        // of owner
	ownerSince        int64         // wall time, Unix nanoseconds
	promisedElsewhere uint32        // highest epoch that any member reported to have promised
	fullHistoryFrom   uint32        // owner only: it knows every attempt from this epoch on
	provisional       bool          // origin only: no majority has answered yet
	closing           bool          // every task has ended, and the members are about to be told
	unlisted          bool          // its owner is alive and no longer lists the job in its keepalives
	lastWrite         grid.Time     // when the owner's last write was answered
	closeNotices      int           // number of times that the close was sent to the members
	campaignAt        grid.Time     // earliest time of this member's next campaign
	graceUntil        grid.Time     // end of the takeover grace; 0 = none, or over
	inputs            *fileReplicas // owner only: who has the job's inputs; nil = it has none
	awaitingMajority  []*liveTask   // owner only: tasks that wait for a majority
	replicating       []*liveTask   // owner only: tasks whose results' files are being deposited
	deposits          deposits
	retired           bool // nothing is left to do: removed from Node.replicas
	bulkEnd           bulkEnd
	claimState
	footprint
}

// Bounds of time, for the lease L. A member votes for a new epoch not before takeoverDelay(L) after it last answered
// the owner; the owner acts for L after it sent what was answered. With clocks off by at most δ = maxDrift either way,
// (1+δ)/(1−δ)·L on the faster clock is not shorter than L on the slower.
const maxDrift = 0.05

// takeoverDelay is how long a member waits after it last answered the owner: see maxDrift, plus L/20 for a disk that
// releases effects late.
func takeoverDelay(lease time.Duration) time.Duration {
	return time.Duration(float64(lease)*(1+maxDrift)/(1-maxDrift)) + lease/20
}

// authoritative reports whether this node can tell what became of a job's attempts: it is the owner, or the job is
// closed.
func (j *job) authoritative() bool {
	return j.replica == nil || j.replica.reg.IsOwner() || j.replica.reg.State().Done
}

// isOwner reports whether this node owns the register of a job that is not closed.
func (j *job) isOwner() bool { return j.replica.reg.IsOwner() && !j.replica.reg.State().Done }

// mayAct reports whether this node holds the job's quorum lease: it is the owner, and a majority of the members has
// answered what it sent within a lease.
func (n *Node) mayAct(now grid.Time, j *job) bool {
	rep := j.replica
	if rep == nil {
		return true
	}
	return rep.reg.Ready() && now < n.mayActUntil(j)
}

// mayActUntil is the end of this node's quorum lease, unless further answers renew it.
func (n *Node) mayActUntil(j *job) grid.Time {
	var answered [grid.MaxMembers]grid.Time
	rep, k := j.replica, 0
	for place, id := range rep.reg.Members() {
		if id != n.cfg.Self && rep.reg.HasAccepted(place) {
			answered[k] = rep.acked[place]
			if p := n.coMembers.by.get(id); p != nil && p.leaseVerified > rep.acceptedAt[place] { // earlier keepalives did not list this register
				answered[k] = max(answered[k], p.leaseVerified)
			}
			k++
		}
	}
	others := rep.reg.Majority() - 1
	if k < others {
		return 0
	}
	slices.Sort(answered[:k])
	return answered[k-others].Add(n.cfg.Lease)
}

// newReplica creates a job with a register.
func (n *Node) newReplica(id grid.JobID, spec *grid.JobSpec, submitted int64, members []grid.NodeID, s register.State) *job {
	j := n.newJob(id, spec, submitted)
	j.replica = &replica{reg: register.New(n.cfg.Self, members, int(spec.Count), s), acked: make([]grid.Time, len(members)), acceptedAt: make([]grid.Time, len(members)),
		writeSent: make([]grid.Time, len(members)), owner: s.Owner, epoch: s.Epoch,
		footprint: footprint{base: jobBytes + specBytes(spec)}}
	n.trackReplica(j)
	return j
}

// proposeEnd writes a task's end to the register; the end becomes visible once it is committed.
func (n *Node) proposeEnd(j *job, i uint32, r *grid.Result, fx *grid.Effects) {
	t := j.task(i)
	t.uncommitted = true
	j.uncommitted++
	j.replica.reg.Propose(&grid.Entry{Index: i, Attempt: t.attempt, Worker: t.worker, Lost: t.lost, Result: r,
		Placed: t.placed, Began: t.began, Done: t.done})
	n.matchDeposit(j, i, fx)
	n.saveEntry(j, i, fx)
	n.rechargeJob(j)
	n.markDirty(j)
}

// markDirty schedules a job's register to send writes at the end of the step.
func (n *Node) markDirty(j *job) {
	if !j.dirty {
		j.dirty = true
		n.dirty = append(n.dirty, j)
	}
}

// sendWrites sends the next write to each member that has answered the one before.
func (n *Node) sendWrites(now grid.Time, fx *grid.Effects) {
	for k, j := range n.dirty {
		n.dirty[k] = nil
		j.dirty = false
		for place, id := range j.replica.reg.Members() {
			m := fx.Send(id, grid.KindWrite)
			if !j.replica.reg.NextWrite(place, &m.Register) {
				fx.Sends = fx.Sends[:len(fx.Sends)-1]
				continue
			}
			j.replica.writeSent[place] = now
			n.fillWrite(now, j, place, m)
		}
	}
	n.dirty = n.dirty[:0]
}

// fillWrite completes a write. A member that has accepted nothing in this epoch gets the job's description too.
func (n *Node) fillWrite(now grid.Time, j *job, place int, m *grid.Message) {
	g := &m.Register
	g.Job = j.id
	if !j.replica.reg.HasAccepted(place) {
		n.describeJob(now, j, g)
	}
	n.convertTimes(now, g.Entries)
}

// describeJob adds the job's description, for a member that may not know the job.
func (n *Node) describeJob(now grid.Time, j *job, g *grid.RegisterMessage) {
	g.Spec, g.Members = j.spec, append(g.Members[:0], j.replica.reg.Members()...)
	g.Age = time.Duration(max(n.wall.At(now).UnixNano()-j.submitted, 0))
}

// convertTimes converts the wall times of entries to ages, and back: no absolute time goes over the wire.
func (n *Node) convertTimes(now grid.Time, finals []grid.Entry) {
	wall := n.wall.At(now).UnixNano()
	for k := range finals {
		for _, t := range [...]*int64{&finals[k].Placed, &finals[k].Began, &finals[k].Done} {
			if *t != 0 {
				*t = max(wall-*t, 1)
			}
		}
	}
}

// writeAnswered handles a member's answer to a write.
func (n *Node) writeAnswered(now grid.Time, from grid.NodeID, a *grid.RegisterMessage, fx *grid.Effects) {
	j := n.job(a.Job)
	if j == nil || j.replica == nil {
		n.stats.Stale++
		return
	}
	if n.isOutsider(j, from) {
		n.countOffence(from, fx)
		return
	}
	rep, mayActBefore := j.replica, n.mayAct(now, j)
	accepted := rep.reg.HasAccepted(max(rep.reg.Place(from), 0))
	finals, valid := rep.reg.WriteAnswered(from, a, n.scratch.finals[:0])
	n.scratch.finals = finals
	if !valid {
		n.stats.Stale++
		return
	}
	place := rep.reg.Place(from)
	n.askDeposits(now, j, fx)
	if a.Answer == grid.RegisterOK {
		rep.acked[place] = max(rep.acked[place], rep.writeSent[place])
		if n.coMember(from); !accepted { // from now on keepalives list this register
			rep.acceptedAt[place] = now
		}
	} else if a.Answer == grid.RegisterHigher {
		n.sawHigherEpoch(now, j, a, fx)
	}
	rep.writeSent[place] = 0
	if a.Answer == grid.RegisterDone && !rep.reg.State().Done { // another owner closed the job
		n.stepDown(j, fx)
		n.campaign(now, j, fx)
	}
	for _, i := range finals {
		n.committed(now, j, i, fx)
	}
	if rep.reg.Ready() {
		rep.provisional = false
		n.confirmSubmission(now, j, fx)
		n.scheduleClose(now, j, fx)
	}
	if rep.reg.IsOwner() {
		n.markDirty(j)
	}
	if !mayActBefore && n.mayAct(now, j) {
		n.resumeJob(j)
	}
}

// committed carries out what waited for a majority: the end is visible now, and the worker may forget it.
func (n *Node) committed(now grid.Time, j *job, i uint32, fx *grid.Effects) {
	n.saveEntry(j, i, fx)
	if i == j.spec.Count {
		for _, c := range j.replica.cancellers {
			n.awaitBarrier(now, j, c, fx)
		}
		j.replica.cancellers = nil
		return
	}
	fx.Saves[len(fx.Saves)-1].Later = true // this node is one of the majority: after a crash it learns the commit again
	t := j.task(i)
	if !t.uncommitted {
		return
	}
	n.publishEnd(j, i, fx)
	n.releaseWorker(now, j, i, fx)
}

// publishEnd makes a task's end visible.
func (n *Node) publishEnd(j *job, i uint32, fx *grid.Effects) {
	t := j.task(i)
	t.uncommitted = false
	j.uncommitted--
	j.done = max(j.done, t.done)
	if t.result.Exit != 0 {
		j.failed++
		j.exit = max(j.exit, t.result.Exit)
	}
	fx.Changed = append(fx.Changed, grid.TaskID{Job: j.id, Index: i})
}
