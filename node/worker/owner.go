package worker

import (
	"slices"
	"time"

	"skep/exec"
	"skep/grid"
)

// ownerRecord is what is known of the owner of a replicated job. Attempts of a job that is not replicated are always
// reported to its origin.
type ownerRecord struct {
	members         []grid.NodeID
	changes         uint32 // of the members, as in grid.Offer
	owner           grid.NodeID
	epoch           uint32
	attempts        int // number of attempts here
	claims          memberClaims
	membersVerified bool // the job's origin named the members; else another node that offered attempts did
}

// Owner returns the node to which attempts of a job are reported.
func (w *Worker) Owner(id grid.JobID) grid.NodeID {
	if rec := w.owners[id]; rec != nil {
		return rec.owner
	}
	return id.Origin
}

// payer returns for whom the use of a job's attempts counts: see [exec.Owner].
func (w *Worker) payer(id grid.JobID) exec.Owner {
	rec := w.owners[id]
	return exec.Owner{Node: w.Owner(id), Vouched: rec != nil && rec.membersVerified}
}

// membersOf lists the members of the register of a job with attempts here; nil = it has none.
func (w *Worker) membersOf(id grid.JobID) []grid.NodeID {
	if rec := w.owners[id]; rec != nil {
		return rec.members
	}
	return nil
}

// recordOwner counts an attempt of a replicated job, and records the job's owner if the epoch is newer.
func (w *Worker) recordOwner(id grid.JobID, members []grid.NodeID, changes uint32, owner grid.NodeID, epoch uint32,
	verified bool) {
	if len(members) == 0 {
		return
	}
	rec := w.owners[id]
	if rec == nil {
		if w.owners == nil {
			w.owners = make(map[grid.JobID]*ownerRecord)
		}
		rec = &ownerRecord{members: slices.Clone(members), changes: changes, membersVerified: verified}
		w.owners[id] = rec
	}
	rec.attempts++
	if changes > rec.changes {
		rec.members, rec.changes, rec.claims = slices.Clone(members), changes, memberClaims{}
	}
	if epoch > rec.epoch {
		rec.owner, rec.epoch = owner, epoch
	}
}

// releaseOwner notes that an attempt is no longer here; the record goes with the last one.
func (w *Worker) releaseOwner(id grid.JobID) {
	if rec := w.owners[id]; rec != nil {
		if rec.attempts--; rec.attempts == 0 {
			delete(w.owners, id)
		}
	}
}

// Drop forgets the attempts that a node names: they are no longer live, or their results are saved. Only the job's
// owner may say so, or another member of its register, which knows that the job is closed. If this node is the owner
// nobody else may: the message may be a late one of an earlier owner about attempts that were taken over since.
func (w *Worker) Drop(from grid.NodeID, ids []grid.AttemptID, fx *grid.Effects) {
	for _, id := range ids {
		owner, rec := w.Owner(id.Task.Job), w.owners[id.Task.Job]
		if owner == from || rec != nil && owner != w.cfg.Self && slices.Contains(rec.members, from) {
			w.Forget(id, fx)
		}
	}
}

// Follow follows a change of a job that its coordinator on this node has seen.
func (w *Worker) Follow(now grid.Time, x *grid.JobChange, fx *grid.Effects) {
	switch x.Kind {
	case grid.JobOver:
		w.forgetReplicated(x.Job, fx)
	case grid.JobMoved:
		w.followOwner(now, x.Job, x.Claim.Owner, x.Claim.Epoch, fx)
	case grid.JobClaimed:
		w.membersChanged(x, fx)
		w.ownerClaimed(now, x.From, x.Job, x.Claim, fx)
	case grid.JobLeased:
		w.leasesDue = true
	}
}

// followOwner reports the attempts of a job to its new owner from now on.
func (w *Worker) followOwner(now grid.Time, id grid.JobID, owner grid.NodeID, epoch uint32, fx *grid.Effects) {
	rec := w.owners[id]
	if rec == nil || epoch <= rec.epoch || !slices.Contains(rec.members, owner) {
		return
	}
	wasOwner := rec.owner == w.cfg.Self
	rec.owner, rec.epoch = owner, epoch
	if wasOwner {
		w.revokeStartLeases(id)
		w.saveResults(id, fx)
	}
	w.reportTo(now, id, owner, fx)
}

// reportTo reports the attempts of one job to its owner. Other jobs are left out: a node that takes over a thousand
// jobs at once would otherwise be told of each of them a thousand times.
func (w *Worker) reportTo(now grid.Time, id grid.JobID, owner grid.NodeID, fx *grid.Effects) {
	connected := w.cfg.Contacts.Connected(owner)
	if !connected {
		w.dialOnce(now, owner, fx) // the attempts are reported once it is connected
	}
	lease := time.Duration(0)
	for _, a := range w.exec.Of(id, nil) {
		lease = max(lease, a.Lease)
		switch {
		case !connected:
		case a.State == grid.WorkFinished:
			a.Tries = 0
			w.sendResult(now, a, fx)
		case a.State == grid.WorkQueued:
			w.requestStartLease(now, a, owner, fx)
		default:
			w.beat(owner, a, fx)
		}
	}
	w.wakeForBeat(now, lease, fx)
}

// saveResults saves the results of a job's attempts here. While this node owned the job its register held them.
func (w *Worker) saveResults(id grid.JobID, fx *grid.Effects) {
	for _, a := range w.exec.Of(id, nil) {
		if a.State == grid.WorkFinished {
			w.save(a, fx)
		}
	}
}
