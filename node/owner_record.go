package node

import (
	"slices"
	"time"

	"skep/grid"
	"skep/node/replication"
)

// ownerRecord is a worker's record of the owner of a job that has a register. Attempts of a job without a register are
// always reported to its origin.
type ownerRecord struct {
	members         []grid.NodeID
	owner           grid.NodeID
	epoch           uint32
	attempts        int // number of attempts here
	claims          memberClaims
	membersVerified bool // the job's origin named the members; else another node that offered attempts did
}

// ownerOf returns the node to which attempts of a job are reported.
func (n *Node) ownerOf(id grid.JobID) grid.NodeID {
	if rec := n.ownerRecords[id]; rec != nil {
		return rec.owner
	}
	return id.Origin
}

// membersOf lists the members of the register of a job with attempts here; nil = it has none.
func (n *Node) membersOf(id grid.JobID) []grid.NodeID {
	if rec := n.ownerRecords[id]; rec != nil {
		return rec.members
	}
	return nil
}

// recordOwner counts an attempt of a job that has a register, and records the job's owner if the epoch is newer.
func (n *Node) recordOwner(id grid.JobID, members []grid.NodeID, owner grid.NodeID, epoch uint32, verified bool) {
	if len(members) == 0 {
		return
	}
	rec := n.ownerRecords[id]
	if rec == nil {
		if n.ownerRecords == nil {
			n.ownerRecords = make(map[grid.JobID]*ownerRecord)
		}
		rec = &ownerRecord{members: slices.Clone(members), membersVerified: verified}
		n.ownerRecords[id] = rec
	}
	rec.attempts++
	if epoch > rec.epoch {
		rec.owner, rec.epoch = owner, epoch
	}
}

// releaseOwner notes that an attempt is no longer here; the record goes with the last one.
func (n *Node) releaseOwner(id grid.JobID) {
	if rec := n.ownerRecords[id]; rec != nil {
		if rec.attempts--; rec.attempts == 0 {
			delete(n.ownerRecords, id)
		}
	}
}

// mayDrop reports whether a node may end or forget attempts of a job here: the job's owner, or another member of its
// register, which knows that the job is closed. If this node is the owner nobody else may: the message may be a late
// one of an earlier owner about attempts that were taken over since.
func (n *Node) mayDrop(from grid.NodeID, id grid.JobID) bool {
	owner, rec := n.ownerOf(id), n.ownerRecords[id]
	return owner == from || rec != nil && owner != n.cfg.Self && slices.Contains(rec.members, from)
}

// learnOwner records a job's new owner in the replica and in the owner record, and reports this node's attempts to it.
func (n *Node) learnOwner(now grid.Time, id grid.JobID, epoch uint32, owner grid.NodeID, fx *grid.Effects) {
	if j := n.job(id); j != nil && j.replica != nil {
		n.replicas.Follow(now, j.replica.Replica, epoch, owner)
		n.followRegisters(now, fx)
	}
	n.followOwner(now, id, replication.Claim{Owner: owner, Epoch: epoch}, fx)
}

// ownerLearned follows a job's new owner, of which its register has told.
func (n *Node) ownerLearned(now grid.Time, j *job, fx *grid.Effects) {
	if j.confirmed() {
		n.replyAll(&j.replica.submitters, j.id, fx)
	}
	owner, epoch, _ := j.replica.Owner()
	n.followOwner(now, j.id, replication.Claim{Owner: owner, Epoch: epoch}, fx)
}

// followOwner reports this node's attempts of a job to its new owner from now on.
func (n *Node) followOwner(now grid.Time, id grid.JobID, c replication.Claim, fx *grid.Effects) {
	rec, owner, epoch := n.ownerRecords[id], c.Owner, c.Epoch
	if rec == nil || epoch <= rec.epoch || !slices.Contains(rec.members, owner) {
		return
	}
	wasOwner := rec.owner == n.cfg.Self
	rec.owner, rec.epoch = owner, epoch
	if wasOwner {
		n.revokeStartLeases(id)
		n.saveResults(id, fx)
	}
	n.reportTo(now, id, owner, fx)
}

// reportTo reports this node's attempts of one job to its owner. Other jobs are left out: a node that takes over a
// thousand jobs at once would otherwise be told of each of them a thousand times.
func (n *Node) reportTo(now grid.Time, id grid.JobID, owner grid.NodeID, fx *grid.Effects) {
	if !n.isConnected(owner) {
		n.dial(now, owner, fx) // the attempts are reported once it is connected
	}
	lease := time.Duration(0)
	for _, w := range n.exec.Of(id, nil) {
		lease = max(lease, w.Lease)
		switch {
		case !n.isConnected(owner):
		case w.State == grid.WorkFinished:
			w.Tries = 0
			n.repeatResult(now, w, fx)
		case w.State == grid.WorkQueued:
			n.requestStartLease(now, n.firstSend, w, owner, fx)
		default:
			m := attemptsMessage(fx, n.firstSend, owner, grid.KindBeat)
			m.Attempts = append(m.Attempts, w.ID)
		}
	}
	n.wakeForBeat(now, lease, fx)
}

// saveResults saves the results of a job's attempts here. While this node owned the job its register held them.
func (n *Node) saveResults(id grid.JobID, fx *grid.Effects) {
	for _, w := range n.exec.Of(id, nil) {
		if w.State == grid.WorkFinished {
			n.saveWork(w, fx)
		}
	}
}

// takeoverHeard handles an announcement of takeovers, or a member's redirect to another owner.
func (n *Node) takeoverHeard(now grid.Time, from grid.NodeID, m *grid.Message, announced bool, fx *grid.Effects) {
	if !announced {
		n.ownerClaimed(now, from, m.Register.Job, replication.Claim{Owner: m.Register.Owner, Epoch: m.Register.Epoch}, fx)
		return
	}
	if len(m.Attempts) > maxTakeovers {
		n.stats.Stale++
		return
	}
	for _, x := range m.Attempts {
		if n.job(x.Task.Job) == nil {
			n.ownerCache.Add(x.Task.Job, replication.Claimant{Node: from, Epoch: x.Epoch, Since: n.wall.At(now).UnixNano()})
		}
		n.ownerClaimed(now, from, x.Task.Job, replication.Claim{Owner: from, Epoch: x.Epoch}, fx)
	}
}

// redirect tells a worker whom this node considers a job's owner.
func (n *Node) redirect(to grid.NodeID, j *job, fx *grid.Effects) {
	owner, epoch, _ := j.replica.Owner()
	if to == n.cfg.Self || owner == n.cfg.Self && !j.replica.IsOwner() {
		return
	}
	m := fx.Send(to, grid.KindTakeover)
	m.Register.Job, m.Register.Epoch, m.Register.Owner = j.id, epoch, owner
}

// announceTakeovers announces the jobs that this node has taken over.
func (n *Node) announceTakeovers(fx *grid.Effects) {
	for len(n.takenOver) > 0 {
		m := fx.Announce(grid.KindTakeover)
		k := min(len(n.takenOver), maxTakeovers)
		for _, id := range n.takenOver[:k] {
			if j := n.job(id); j != nil && j.authoritative() {
				_, epoch, _ := j.replica.Owner()
				m.Attempts = append(m.Attempts, grid.AttemptID{Task: grid.TaskID{Job: id}, Attempt: grid.Attempt{Epoch: epoch}})
			}
		}
		n.takenOver = slices.Delete(n.takenOver, 0, k)
	}
}

// maxTakeovers bounds the jobs in one announcement: an announcement's size is limited.
const maxTakeovers = 128
