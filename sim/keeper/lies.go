package keeper

import (
	"math"

	"skep/grid"
	"skep/node/chain"
)

// Tamper changes an answer of the member's node.
func (k *Keeper) Tamper(m *grid.Message) {
	j := k.job(m.Register.Job)
	if j == nil || k.rand.IntN(3) > 0 {
		return
	}
	g := &m.Register
	switch m.Kind {
	case grid.KindVote:
		k.Lies++
		g.Answer = k.answer(grid.RegisterOK)
		if g.Answer == grid.RegisterHigher {
			g.Epoch = k.epoch(j)
		}
	case grid.KindWriteAck:
		k.Lies++
		if g.Answer = k.answer(grid.RegisterOK); g.Answer == grid.RegisterHigher {
			g.Epoch, g.Owner = k.epoch(j), k.self
		}
	}
}

// Vote answers a campaign with the keeper's vote, whomever it has voted for before, and denies most of what it has
// accepted.
func (k *Keeper) Vote(to grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) {
	j := k.job(g.Job)
	if j == nil || to == k.self || k.rand.IntN(2) == 0 {
		return
	}
	k.Lies++
	m := fx.Send(to, grid.KindVote)
	m.Register.Job, m.Register.Epoch, m.Register.Seq, m.Register.Answer = g.Job, g.Epoch, g.Seq, grid.RegisterOK
	m.Register.Vote, m.Register.Next = j.chain.Vote(g.Epoch, to), uint32(j.spec.Entries())
	if k.rand.IntN(2) == 0 {
		m.Register.Entries = append(m.Register.Entries, k.entry(j))
	}
}

// answer draws an answer, half of them ok.
func (k *Keeper) answer(ok grid.RegisterAnswer) grid.RegisterAnswer {
	if k.rand.IntN(2) == 0 {
		return ok
	}
	return grid.RegisterOK + grid.RegisterAnswer(k.rand.IntN(int(grid.RegisterReplaced)))
}

// epoch draws an epoch that nobody need have promised.
func (k *Keeper) epoch(j *kept) uint32 {
	if k.rand.IntN(4) == 0 {
		return math.MaxUint32 - uint32(k.rand.IntN(2))
	}
	return j.epoch + uint32(k.rand.IntN(4))
}

// write forges a write of an owner.
func (k *Keeper) write(j *kept, to grid.NodeID, fx *grid.Effects) {
	m := fx.Send(to, grid.KindWrite)
	g := &m.Register
	g.Job, g.Epoch, g.Seq, g.Done = j.id, j.epoch+uint32(k.rand.IntN(3)), k.rand.Uint64(), k.rand.IntN(2) == 0
	g.Mandate = k.mandate(j, g.Epoch)
	for range 1 + k.rand.IntN(2) {
		e := k.entry(j)
		e.Epoch = g.Epoch
		g.Entries = append(g.Entries, e)
	}
}

// mandate returns votes for the keeper: none, its own, those that it was given, or those for another owner.
func (k *Keeper) mandate(j *kept, epoch uint32) string {
	switch k.rand.IntN(4) {
	case 0:
		return ""
	case 1:
		return j.mandate
	}
	var votes []chain.CastVote
	for place, id := range j.members {
		if id == k.self {
			votes = append(votes, chain.CastVote{Place: uint8(place), Signature: j.chain.Vote(epoch, k.self)})
		} else if v := j.votes[id]; v != "" {
			votes = append(votes, chain.CastVote{Place: uint8(place), Signature: v})
		}
	}
	return chain.Mandate(votes)
}

// entry forges the end of a task.
func (k *Keeper) entry(j *kept) grid.Entry {
	id := k.attempt(j)
	e := grid.Entry{Index: id.Task.Index, Epoch: max(1, j.epoch), Attempt: id.Attempt, Worker: k.self, Placed: 1, Began: 1,
		Done: 1, Result: k.end(j, id)}
	if k.rand.IntN(2) == 0 {
		e.Worker = j.members[k.rand.IntN(len(j.members))]
	}
	return e
}

// end forges a result: without a signature, with its own as the worker of an attempt that it has given to itself, as
// the owner, or with the signatures of another task's.
func (k *Keeper) end(j *kept, id grid.AttemptID) *grid.Result {
	r := &grid.Result{Cause: grid.Exited, Exit: forgedExit}
	if k.rand.IntN(3) == 0 {
		r = &grid.Result{Cause: grid.Lost, Exit: 125}
	}
	switch x := k.rand.IntN(4); {
	case x == 0:
		return r
	case x == 1 && len(j.ends) > 0:
		return j.ends[k.rand.IntN(len(j.ends))]
	case x == 2 && len(j.ends) > 0:
		r.Proof = j.ends[k.rand.IntN(len(j.ends))].Proof
		return r
	}
	j.chain.Own(id.Epoch, k.mandate(j, id.Epoch))
	if k.rand.IntN(2) == 0 {
		return j.chain.ByOwner(id.Task.Index, r)
	}
	return chain.Attest(k.signer, k.self, id, j.chain.Assign(id.Task.Index, id.Attempt, k.self), r)
}

// forgedExit is that of ends which it makes up: no program of the swarm has it.
const forgedExit = 77
