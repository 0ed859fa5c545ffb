package keeper

import (
	"slices"

	"skep/grid"
	"skep/node/chain"
)

// Keeper is what such a member knows of the jobs that it keeps, and what it does with that.
type Keeper struct {
	self   grid.NodeID
	signer chain.Signer
	rand   *grid.Rand
	jobs   []*kept // in order of first sight
	Lies   int     // messages that it has changed or made up
}

// kept is a job that the keeper has a place in the register of.
type kept struct {
	id      grid.JobID
	spec    *grid.JobSpec
	members []grid.NodeID
	chain   *chain.Chain
	epoch   uint32 // the highest that it has heard of
	owner   grid.NodeID
	mandate string // of that owner; "" in the first epoch, or not known
	votes   map[grid.NodeID]string
	asked   uint32 // epoch of its own campaign
	ends    []*grid.Result
}

// New returns the keeper of a node, which signs with that node's key.
func New(self grid.NodeID, s chain.Signer, r *grid.Rand) *Keeper {
	return &Keeper{self: self, signer: s, rand: r}
}

// Hear takes note of what a message says, before the member's node does.
func (k *Keeper) Hear(from grid.NodeID, m *grid.Message) {
	g := &m.Register
	switch m.Kind {
	case grid.KindWrite, grid.KindCampaign:
		j := k.job(g.Job)
		if j == nil && g.Spec != nil && slices.Contains(g.Members, k.self) {
			j = &kept{id: g.Job, spec: g.Spec, members: slices.Clone(g.Members)}
			j.chain = chain.New(k.signer, k.self, j.id, j.spec, j.members)
			k.jobs = append(k.jobs, j)
		}
		if j == nil || m.Kind == grid.KindCampaign {
			return
		}
		if g.Epoch > j.epoch {
			j.epoch, j.owner, j.mandate = g.Epoch, from, g.Mandate
		}
		for x := range g.Entries {
			if r := g.Entries[x].Result; r != nil && len(j.ends) < maxEnds {
				j.ends = append(j.ends, r)
			}
		}
	case grid.KindVote:
		if j := k.job(g.Job); j != nil && g.Answer == grid.RegisterOK && g.Epoch == j.asked && g.Vote != "" {
			j.votes[from] = g.Vote
		}
	}
}

// maxEnds bounds the ends that it repeats as those of other tasks.
const maxEnds = 16

func (k *Keeper) job(id grid.JobID) *kept {
	if at := slices.IndexFunc(k.jobs, func(j *kept) bool { return j.id == id }); at >= 0 {
		return k.jobs[at]
	}
	return nil
}

// Act makes up a message about one of the jobs, or none.
func (k *Keeper) Act(fx *grid.Effects) {
	if len(k.jobs) == 0 || k.rand.IntN(8) > 0 {
		return
	}
	j := k.jobs[k.rand.IntN(len(k.jobs))]
	to := j.members[k.rand.IntN(len(j.members))]
	if to == k.self {
		return
	}
	k.Lies++
	switch k.rand.IntN(5) {
	case 0, 1:
		k.write(j, to, fx)
	case 2:
		m := fx.Send(to, grid.KindTakeover)
		m.Register.Job, m.Register.Owner, m.Register.Epoch = j.id, k.self, j.epoch+1+uint32(k.rand.IntN(3))
	case 3:
		k.campaign(j, fx)
	case 4:
		id := k.attempt(j)
		m := fx.Send(j.owner, grid.KindResult)
		m.Attempts = append(m.Attempts, id)
		m.Result = k.end(j, id)
		if j.owner == k.self || j.owner.IsZero() {
			fx.Sends = fx.Sends[:len(fx.Sends)-1]
		}
	}
}

// campaign asks for the votes of all members.
func (k *Keeper) campaign(j *kept, fx *grid.Effects) {
	if j.asked <= j.epoch {
		j.asked, j.votes = j.epoch+1, map[grid.NodeID]string{}
	}
	for _, to := range j.members {
		if to != k.self {
			m := fx.Send(to, grid.KindCampaign)
			m.Register.Job, m.Register.Epoch = j.id, j.asked
		}
	}
}

// attempt names an attempt that may or may not be.
func (k *Keeper) attempt(j *kept) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: j.id, Index: uint32(k.rand.IntN(int(j.spec.Count)))},
		Attempt: grid.Attempt{Epoch: max(1, j.epoch), N: uint32(1 + k.rand.IntN(3))}}
}
