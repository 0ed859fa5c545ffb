package node

import (
	"slices"
	"time"

	"skep/grid"
	"skep/register"
)

// replica is what this node keeps of a job whose register it is a member of, as its owner or not.
type replica struct {
	reg               *register.Register
	acked             []grid.Time   // by place, of the owner: when the last answered write of this epoch was sent
	acceptedAt        []grid.Time   // by place, of the owner: since when it is known to have accepted this epoch
	writeSent         []grid.Time   // by place: when the write under way was sent first; 0 = none
	submitters        []uint64      // who submitted, and is answered when a majority holds the job
	confirmBy         grid.Time     // when they are answered otherwise
	cancellers        []uint64      // who cancelled, and is answered when a majority holds that
	owner             grid.NodeID   // the owner as far as is known here
	epoch             uint32        // of the boss
	ownerSince        int64         // wall time since when
	promisedElsewhere uint32        // highest epoch that a member has said to have promised
	fullHistoryFrom   uint32        // of the owner: the epoch from which on it knows every attempt
	provisional       bool          // of the origin: no majority has answered yet
	closing           bool          // every task has ended, and the members are about to be told so
	unlisted          bool          // its owner lives and does not speak of it
	lastWrite         grid.Time     // when the owner's last write was answered
	closeNotices      int           // times that the others were told of the end
	campaignAt        grid.Time     // when this member may try to become the owner
	graceUntil        grid.Time     // until then a new owner waits for word of attempts; 0 = not, or over
	inputs            *fileReplicas // of the owner: who has the job's inputs; nil = it has none
	awaitingMajority  []*liveTask   // of the owner: tasks that wait for a majority
	replicating       []*liveTask   // of the owner: tasks whose results' files are being copied
	deposits          deposits
	retired           bool // nothing is left to look after: it is in the node's list no more
	bulkEnd           bulkEnd
	claimState
	footprint
}

// Bounds of time, as shares of the lease L. A member promises a new epoch not before wait(L) after it last answered
// the owner, and the owner acts for L after it sent what was answered. With clocks that go wrong by at most
// maxDrift either way, (1+δ)/(1−δ)·L on the faster clock is not shorter than L on the slower.
const maxDrift = 0.05

// takeoverDelay is how long a member waits after the owner's last word: see maxDrift; a twentieth of the lease is added for
// a disk that lets effects out late.
func takeoverDelay(lease time.Duration) time.Duration {
	return time.Duration(float64(lease)*(1+maxDrift)/(1-maxDrift)) + lease/20
}

// authoritative reports whether this node can say what became of a job's attempts: it brings the job to its end, or the end is known.
func (j *job) authoritative() bool {
	return j.replica == nil || j.replica.reg.Leads() || j.replica.reg.State().Done
}

// isOwner reports whether this node owns the register of a job that is not over.
func (j *job) isOwner() bool { return j.replica.reg.Leads() && !j.replica.reg.State().Done }

// mayAct reports whether this node may decide about a job now: it is the owner, and a majority of the register has
// answered what it sent within a lease.
func (n *Node) mayAct(now grid.Time, j *job) bool {
	g := j.replica
	if g == nil {
		return true
	}
	return g.reg.Ready() && now < n.mayActUntil(j)
}

// mayActUntil is the time from which on this node may not decide about a job, unless more is heard from the register.
func (n *Node) mayActUntil(j *job) grid.Time {
	var heard [grid.MaxMembers]grid.Time
	g, k := j.replica, 0
	for place, id := range g.reg.Members() {
		if id != n.cfg.Self && g.reg.Holds(place) {
			heard[k] = g.acked[place]
			if p := n.coMembers.by.get(id); p != nil && p.leaseVerified > g.acceptedAt[place] { // a watch from before did not name this register
				heard[k] = max(heard[k], p.leaseVerified)
			}
			k++
		}
	}
	others := g.reg.Majority() - 1
	if k < others {
		return 0
	}
	slices.Sort(heard[:k])
	return heard[k-others].Add(n.cfg.Lease)
}

// newReplica makes a job with a register.
func (n *Node) newReplica(id grid.JobID, spec *grid.JobSpec, submitted int64, members []grid.NodeID, s register.State) *job {
	j := n.newJob(id, spec, submitted)
	j.replica = &replica{reg: register.New(n.cfg.Self, members, int(spec.Count), s), acked: make([]grid.Time, len(members)), acceptedAt: make([]grid.Time, len(members)),
		writeSent: make([]grid.Time, len(members)), owner: s.Owner, epoch: s.Epoch,
		footprint: footprint{base: jobBytes + specBytes(spec)}}
	n.trackReplica(j)
	return j
}

// proposeEnd writes a task's end to the register. It is told when a majority has it.
func (n *Node) proposeEnd(j *job, i uint32, r *grid.Result, fx *grid.Effects) {
	t := j.task(i)
	t.uncommitted = true
	j.uncommitted++
	j.replica.reg.Propose(&grid.Final{Index: i, Attempt: t.attempt, Worker: t.worker, Lost: t.lost, Result: r,
		Placed: t.placed, Began: t.began, Done: t.done})
	n.matchDeposit(j, i, fx)
	n.saveEntry(j, i, fx)
	n.rechargeJob(j)
	n.markDirty(j)
}

// markDirty notes that a job's register may have something to say: it is said at the end of the step.
func (n *Node) markDirty(j *job) {
	if !j.dirty {
		j.dirty = true
		n.dirty = append(n.dirty, j)
	}
}

// sendWrites sends what registers have to say to members that have answered what was said before.
func (n *Node) sendWrites(now grid.Time, fx *grid.Effects) {
	for k, j := range n.dirty {
		n.dirty[k] = nil
		j.dirty = false
		for place, id := range j.replica.reg.Members() {
			m := fx.Send(id, grid.KindWrite)
			if !j.replica.reg.Next(place, &m.Register) {
				fx.Sends = fx.Sends[:len(fx.Sends)-1]
				continue
			}
			j.replica.writeSent[place] = now
			n.fillWrite(now, j, place, m)
		}
	}
	n.dirty = n.dirty[:0]
}

// fillWrite fills in what a write says of the job. Who has not accepted anything in this epoch yet is told what the job is.
func (n *Node) fillWrite(now grid.Time, j *job, place int, m *grid.Message) {
	g := &m.Register
	g.Job = j.id
	if !j.replica.reg.Holds(place) {
		n.describeJob(now, j, g)
	}
	n.convertTimes(now, g.Finals)
}

// describeJob says what job a message is about, for a member that may not know it.
func (n *Node) describeJob(now grid.Time, j *job, g *grid.Register) {
	g.Spec, g.Members = j.spec, append(g.Members[:0], j.replica.reg.Members()...)
	g.Age = time.Duration(max(n.wall.At(now).UnixNano()-j.submitted, 0))
}

// convertTimes turns wall times of entries into how long ago they are, and back: nothing on the wire is a time.
func (n *Node) convertTimes(now grid.Time, finals []grid.Final) {
	wall := n.wall.At(now).UnixNano()
	for k := range finals {
		for _, t := range [...]*int64{&finals[k].Placed, &finals[k].Began, &finals[k].Done} {
			if *t != 0 {
				*t = max(wall-*t, 1)
			}
		}
	}
}

// writeAnswered takes a member's answer to a write.
func (n *Node) writeAnswered(now grid.Time, from grid.NodeID, a *grid.Register, fx *grid.Effects) {
	j := n.job(a.Job)
	if j == nil || j.replica == nil {
		n.stats.Stale++
		return
	}
	if n.isOutsider(j, from) {
		n.countOffence(from, fx)
		return
	}
	g, acted := j.replica, n.mayAct(now, j)
	held := g.reg.Holds(max(g.reg.Place(from), 0))
	finals, mine := g.reg.Wrote(from, a, n.scratch.finals[:0])
	n.scratch.finals = finals
	if !mine {
		n.stats.Stale++
		return
	}
	place := g.reg.Place(from)
	n.askDeposits(now, j, fx)
	if a.Answer == grid.RegisterOK {
		g.acked[place] = max(g.acked[place], g.writeSent[place])
		if n.coMember(from); !held { // from now on it is watched
			g.acceptedAt[place] = now
		}
	} else if a.Answer == grid.RegisterHigher {
		n.sawHigherEpoch(now, j, a, fx)
	}
	g.writeSent[place] = 0
	if a.Answer == grid.RegisterDone && !g.reg.State().Done { // somebody else brought it to its end
		n.stepDown(j, fx)
		n.campaign(now, j, fx)
	}
	for _, i := range finals {
		n.committed(now, j, i, fx)
	}
	if g.reg.Ready() {
		g.provisional = false
		n.confirmSubmission(now, j, fx)
		n.scheduleClose(now, j, fx)
	}
	if g.reg.Leads() {
		n.markDirty(j)
	}
	if !acted && n.mayAct(now, j) {
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
	fx.Saves[len(fx.Saves)-1].Later = true // this node is one of the majority; after a crash it hears again that there is one
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
