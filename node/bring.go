package node

import (
	"skep/grid"
)

// How files that a register's owner names come to a member.

// askedToCopy brings files here that the owner of a job names, and answers when they are here.
func (n *Node) askedToCopy(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	id := m.Attempts[0]
	j := n.job(id.Task.Job)
	if j == nil || j.guard == nil || j.guard.boss != from || j.guard.reg.Leads() || j.guard.reg.State().Done || id.Task.Index >= j.spec.Count {
		n.stats.Stale++
		return
	}
	if id == inputsOf(j.id) {
		if n.hasInputs(j) || len(j.spec.Inputs) == 0 {
			n.sayCopied(from, id, grid.Refusal{}, fx)
			return
		}
		if no := n.bringInputs(now, j, from, fx); no.Why != grid.WhyNone {
			n.sayCopied(from, id, no, fx)
		}
		return
	}
	if m.Result == nil {
		n.stats.Stale++
		return
	}
	if no := n.bringLeft(j, id, m.Result, from, fx); no.Why != grid.WhyNone || j.keeps(id.Task.Index, id.Attempt).state == here {
		n.sayCopied(from, id, no, fx)
	}
}

// bringInputs begins to bring a job's inputs here, if they are not on their way.
func (n *Node) bringInputs(now grid.Time, j *job, from grid.NodeID, fx *grid.Effects) grid.Refusal {
	g := &j.guard.lent
	if g.inputs != absent {
		return grid.Refusal{}
	}
	no := n.bring(j, inputsOf(j.id), from, j.spec.Inputs, fx)
	if no.Why == grid.WhyNone {
		g.inputs = coming
	}
	return no
}

// bringLeft begins to bring what a task left, if it is not here or on its way.
func (n *Node) bringLeft(j *job, id grid.AttemptID, r *grid.Result, from grid.NodeID, fx *grid.Effects) grid.Refusal {
	files := r.Blobs(nil)
	if j.keeps(id.Task.Index, id.Attempt) != nil {
		return grid.Refusal{}
	}
	if v, _ := j.guard.reg.Value(id.Task.Index); v != nil {
		if v.Attempt != id.Attempt {
			return grid.Refusal{Why: grid.WhyStale}
		}
		r = nil
	} else if n.ledger.AdmitMore(j.id, weighResult(r)) != "" {
		return grid.Refusal{Why: grid.WhyRoom}
	}
	no := n.bring(j, id, from, files, fx)
	if no.Why == grid.WhyNone {
		n.putLeft(j, id.Task.Index, &left{attempt: id.Attempt, result: r, size: weigh(files), state: coming})
	}
	return no
}

// brought goes on after files have come for a register, or have not.
func (n *Node) brought(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	n.arrived(ev.Attempt)
	j := n.job(ev.Attempt.Task.Job)
	if j == nil || j.guard == nil || ev.Attempt.Task.Index >= j.spec.Count {
		return
	}
	g, no := &j.guard.lent, grid.Refusal{}
	if ev.Err != "" {
		no = grid.Refusal{Why: grid.WhyFetch, Detail: clip(ev.Err)}
	}
	x := j.keeps(ev.Attempt.Task.Index, ev.Attempt.Attempt)
	inputs := ev.Attempt == inputsOf(j.id)
	if inputs && g.inputs != coming || !inputs && (x == nil || x.state != coming) {
		return
	}
	switch {
	case inputs && ev.Err != "":
		g.inputs = absent
	case inputs:
		g.inputs = here
		n.charge(j, weigh(j.spec.Inputs))
		n.saveGuard(j, fx)
	case ev.Err != "":
		n.unlend(j, ev.Attempt.Task.Index)
	default:
		x.state = here
		n.charge(j, x.size)
		n.saveEntry(j, ev.Attempt.Task.Index, fx)
	}
	switch {
	case !j.guard.reg.Leads() && j.guard.boss != n.cfg.Self && !j.guard.boss.IsZero():
		n.sayCopied(j.guard.boss, ev.Attempt, no, fx)
	case inputs && j.guard.inputs != nil:
		j.guard.inputs.answer(j.guard.reg.Place(n.cfg.Self), n.cfg.Self, no)
		n.welcome(now, j, fx)
	}
}

func (n *Node) sayCopied(to grid.NodeID, id grid.AttemptID, no grid.Refusal, fx *grid.Effects) {
	m := fx.Send(to, grid.KindCopied)
	m.Attempts, m.Refusal = append(m.Attempts, id), no
}
