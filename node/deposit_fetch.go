package node

import (
	"skep/grid"
	"skep/node/quota"
)

// Fetching deposits: files named by a register's owner come to a member.

// depositAsked fetches the files that the job's owner names, and answers when they are stored.
func (n *Node) depositAsked(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	id := m.Attempts[0]
	j := n.job(id.Task.Job)
	if j == nil || j.replica == nil || j.ownerKnown() != from || j.replica.IsOwner() || j.replica.State().Done || id.Task.Index >= j.spec.Count {
		n.stats.Stale++
		return
	}
	if id == inputsID(j.id) {
		if n.hasInputs(j) || len(j.spec.Inputs) == 0 {
			n.answerDeposit(from, id, grid.Refusal{}, fx)
			return
		}
		if refusal := n.fetchInputs(now, j, from, fx); refusal.Why != grid.WhyNone {
			n.answerDeposit(from, id, refusal, fx)
		}
		return
	}
	if m.Result == nil {
		n.stats.Stale++
		return
	}
	if refusal := n.fetchOutput(j, id, m.Result, from, fx); refusal.Why != grid.WhyNone || j.depositOf(id.Task.Index, id.Attempt).state == depositStored {
		n.answerDeposit(from, id, refusal, fx)
	}
}

// fetchInputs starts to fetch a job's inputs, unless they are stored or being fetched.
func (n *Node) fetchInputs(now grid.Time, j *job, from grid.NodeID, fx *grid.Effects) grid.Refusal {
	d := &j.replica.deposits
	if d.inputs != depositAbsent {
		return grid.Refusal{}
	}
	refusal := n.fetchDeposit(j, inputsID(j.id), from, j.spec.Inputs, fx)
	if refusal.Why == grid.WhyNone {
		d.inputs = depositFetching
	}
	return refusal
}

// fetchOutput starts to fetch a task's output files, unless they are stored or being fetched.
func (n *Node) fetchOutput(j *job, id grid.AttemptID, r *grid.Result, from grid.NodeID, fx *grid.Effects) grid.Refusal {
	files := r.Blobs(nil)
	if j.depositOf(id.Task.Index, id.Attempt) != nil {
		return grid.Refusal{}
	}
	if v, _ := j.replica.Value(id.Task.Index); v != nil {
		if v.Attempt != id.Attempt {
			return grid.Refusal{Why: grid.WhyStale}
		}
		r = nil
	} else if n.ledger.AdmitMore(j.id, quota.ResultBytes(r)) != "" {
		return grid.Refusal{Why: grid.WhyRoom}
	}
	refusal := n.fetchDeposit(j, id, from, files, fx)
	if refusal.Why == grid.WhyNone {
		n.putDeposit(j, id.Task.Index, &deposit{attempt: id.Attempt, result: r, size: diskBytes(files), state: depositFetching})
	}
	return refusal
}

// depositFetched continues after a fetch has succeeded or failed.
func (n *Node) depositFetched(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	n.releaseTransfer(ev.Attempt)
	j := n.job(ev.Attempt.Task.Job)
	if j == nil || j.replica == nil || ev.Attempt.Task.Index >= j.spec.Count {
		return
	}
	d, refusal := &j.replica.deposits, grid.Refusal{}
	if ev.Err != "" {
		refusal = grid.Refusal{Why: grid.WhyFetch, Detail: clip(ev.Err)}
	}
	x := j.depositOf(ev.Attempt.Task.Index, ev.Attempt.Attempt)
	inputs := ev.Attempt == inputsID(j.id)
	if inputs && d.inputs != depositFetching || !inputs && (x == nil || x.state != depositFetching) {
		return
	}
	switch {
	case inputs && ev.Err != "":
		d.inputs = depositAbsent
	case inputs:
		d.inputs, j.replica.InputsHeld = depositStored, true
		n.chargeDeposit(j, diskBytes(j.spec.Inputs))
		n.replicas.Save(j.replica.Replica, fx)
	case ev.Err != "":
		n.releaseDeposit(j, ev.Attempt.Task.Index)
	default:
		x.state = depositStored
		n.chargeDeposit(j, x.size)
		n.saveEntry(j, ev.Attempt.Task.Index, fx)
	}
	switch {
	case !j.replica.IsOwner() && j.ownerKnown() != n.cfg.Self && !j.ownerKnown().IsZero():
		n.answerDeposit(j.ownerKnown(), ev.Attempt, refusal, fx)
	case inputs && j.replica.inputs != nil:
		j.replica.inputs.answer(j.replica.Place(n.cfg.Self), n.cfg.Self, refusal)
		n.confirmSubmission(now, j, fx)
	}
}

func (n *Node) answerDeposit(to grid.NodeID, id grid.AttemptID, refusal grid.Refusal, fx *grid.Effects) {
	m := fx.Send(to, grid.KindDepositAck)
	m.Attempts, m.Refusal = append(m.Attempts, id), refusal
}
