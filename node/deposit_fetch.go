package node

import (
	"skep/grid"
)

// How files that a register's owner names come to a member.

// depositAsked brings files here that the owner of a job names, and answers when they are here.
func (n *Node) depositAsked(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	id := m.Attempts[0]
	j := n.job(id.Task.Job)
	if j == nil || j.replica == nil || j.replica.owner != from || j.replica.reg.IsOwner() || j.replica.reg.State().Done || id.Task.Index >= j.spec.Count {
		n.stats.Stale++
		return
	}
	if id == inputsID(j.id) {
		if n.hasInputs(j) || len(j.spec.Inputs) == 0 {
			n.answerDeposit(from, id, grid.Refusal{}, fx)
			return
		}
		if no := n.fetchInputs(now, j, from, fx); no.Why != grid.WhyNone {
			n.answerDeposit(from, id, no, fx)
		}
		return
	}
	if m.Result == nil {
		n.stats.Stale++
		return
	}
	if no := n.fetchOutput(j, id, m.Result, from, fx); no.Why != grid.WhyNone || j.depositOf(id.Task.Index, id.Attempt).state == depositStored {
		n.answerDeposit(from, id, no, fx)
	}
}

// fetchInputs begins to bring a job's inputs here, if they are not on their way.
func (n *Node) fetchInputs(now grid.Time, j *job, from grid.NodeID, fx *grid.Effects) grid.Refusal {
	g := &j.replica.deposits
	if g.inputs != depositAbsent {
		return grid.Refusal{}
	}
	no := n.fetchDeposit(j, inputsID(j.id), from, j.spec.Inputs, fx)
	if no.Why == grid.WhyNone {
		g.inputs = depositFetching
	}
	return no
}

// fetchOutput begins to bring what a task left, if it is not here or on its way.
func (n *Node) fetchOutput(j *job, id grid.AttemptID, r *grid.Result, from grid.NodeID, fx *grid.Effects) grid.Refusal {
	files := r.Blobs(nil)
	if j.depositOf(id.Task.Index, id.Attempt) != nil {
		return grid.Refusal{}
	}
	if v, _ := j.replica.reg.Value(id.Task.Index); v != nil {
		if v.Attempt != id.Attempt {
			return grid.Refusal{Why: grid.WhyStale}
		}
		r = nil
	} else if n.ledger.AdmitMore(j.id, resultBytes(r)) != "" {
		return grid.Refusal{Why: grid.WhyRoom}
	}
	no := n.fetchDeposit(j, id, from, files, fx)
	if no.Why == grid.WhyNone {
		n.putDeposit(j, id.Task.Index, &deposit{attempt: id.Attempt, result: r, size: diskBytes(files), state: depositFetching})
	}
	return no
}

// depositFetched goes on after files have come for a register, or have not.
func (n *Node) depositFetched(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	n.releaseTransfer(ev.Attempt)
	j := n.job(ev.Attempt.Task.Job)
	if j == nil || j.replica == nil || ev.Attempt.Task.Index >= j.spec.Count {
		return
	}
	g, no := &j.replica.deposits, grid.Refusal{}
	if ev.Err != "" {
		no = grid.Refusal{Why: grid.WhyFetch, Detail: clip(ev.Err)}
	}
	x := j.depositOf(ev.Attempt.Task.Index, ev.Attempt.Attempt)
	inputs := ev.Attempt == inputsID(j.id)
	if inputs && g.inputs != depositFetching || !inputs && (x == nil || x.state != depositFetching) {
		return
	}
	switch {
	case inputs && ev.Err != "":
		g.inputs = depositAbsent
	case inputs:
		g.inputs = depositStored
		n.chargeDeposit(j, diskBytes(j.spec.Inputs))
		n.saveReplica(j, fx)
	case ev.Err != "":
		n.releaseDeposit(j, ev.Attempt.Task.Index)
	default:
		x.state = depositStored
		n.chargeDeposit(j, x.size)
		n.saveEntry(j, ev.Attempt.Task.Index, fx)
	}
	switch {
	case !j.replica.reg.IsOwner() && j.replica.owner != n.cfg.Self && !j.replica.owner.IsZero():
		n.answerDeposit(j.replica.owner, ev.Attempt, no, fx)
	case inputs && j.replica.inputs != nil:
		j.replica.inputs.answer(j.replica.reg.Place(n.cfg.Self), n.cfg.Self, no)
		n.confirmSubmission(now, j, fx)
	}
}

func (n *Node) answerDeposit(to grid.NodeID, id grid.AttemptID, no grid.Refusal, fx *grid.Effects) {
	m := fx.Send(to, grid.KindDepositAck)
	m.Attempts, m.Refusal = append(m.Attempts, id), no
}
