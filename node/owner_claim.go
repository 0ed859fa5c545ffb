package node

import (
	"slices"

	"skep/exec"
	"skep/grid"
)

// Who says that it owns a register now. Such a word (KindTakeover) counts from a member about itself, and is a reason to ask, no more: an owner
// watches the other members at once and goes on until a majority denies it; a worker also tells the claimant what it has, asks the other
// members, and goes by the claim when a majority of the members says the same. So nobody's word alone makes an owner or a worker let go of
// anything, and a false one costs a few messages each sixth of a lease.

// ownerClaim is what a member says of a register's owner.
type ownerClaim struct {
	owner grid.NodeID
	epoch uint32
}

// claimState is what is known and said of who keeps a register.
type claimState struct {
	membersVerified bool       // its members are the word of the job's origin
	rival           ownerClaim // of a member that says it is the owner, and has not written to this node
	rivalChecked    grid.Time  // when the others were watched because of one
}

// memberClaims are what the members of a job's register have said, as a worker was told.
type memberClaims struct {
	byPlace   [grid.MaxMembers]ownerClaim // by place; the newest epoch that it spoke of
	lastAsked grid.Time                   // when the others were asked last
}

// claimants appends the members that say of themselves that they own the register in an epoch above the one known.
func (p *ownerRecord) claimants(dst []grid.NodeID) []grid.NodeID {
	for place, id := range p.members {
		if c := p.claims.byPlace[place]; c.owner == id && c.epoch > p.epoch && id != p.owner {
			dst = append(dst, id)
		}
	}
	return dst
}

// majorityClaim returns the claim that a majority of the members agree with; zero = there is none.
func (p *ownerRecord) majorityClaim() ownerClaim {
	for place, id := range p.members {
		own, agree := p.claims.byPlace[place], 0
		if own.owner != id || own.epoch <= p.epoch {
			continue
		}
		for other := range p.members {
			if c := p.claims.byPlace[other]; c.owner == id && c.epoch > p.epoch {
				agree++
			}
		}
		if agree > len(p.members)/2 {
			return own
		}
	}
	return ownerClaim{}
}

// ownerClaimed takes a word about who owns a register.
func (n *Node) ownerClaimed(now grid.Time, from grid.NodeID, id grid.JobID, c ownerClaim, fx *grid.Effects) {
	if j := n.job(id); j != nil && j.replica != nil {
		n.replicaClaimed(now, from, j, c, fx)
	}
	p := n.ownerRecords[id]
	if p == nil || p.owner == n.cfg.Self || c.owner == n.cfg.Self || c.epoch <= p.epoch || !slices.Contains(p.members, c.owner) {
		return
	}
	place := slices.Index(p.members, from)
	if place < 0 || place >= len(p.claims.byPlace) || p.claims.byPlace[place].epoch >= c.epoch {
		return
	}
	p.claims.byPlace[place] = c
	if won := p.majorityClaim(); won != (ownerClaim{}) {
		n.followOwner(now, id, won, fx)
		return
	}
	if n.mayRepeat(now, &p.claims.lastAsked) {
		n.queryOwner(now, id, p, fx)
	}
}

// replicaClaimed is claimed of a register that this node is a member of. Whoever really owns it writes to this node, too.
func (n *Node) replicaClaimed(now grid.Time, from grid.NodeID, j *job, c ownerClaim, fx *grid.Effects) {
	g := j.replica
	if n.isOutsider(j, from) {
		if g.membersVerified { // else the members may be made up, and who speaks one of the others
			n.countOffence(from, fx)
		}
		return
	}
	if c.owner != from || c.epoch <= max(g.epoch, g.rival.epoch) {
		return
	}
	g.rival = c
	if !g.reg.Leads() || !n.mayRepeat(now, &g.rivalChecked) {
		return
	}
	for _, id := range g.reg.Members() {
		if id == n.cfg.Self {
			continue
		}
		if p := n.coMember(id); p.keepaliveSeq == 0 { // else the answer to the one under way will tell
			n.keepaliveOne(now, p, n.ownedWith(id), fx)
		}
	}
}

// mayRepeat reports whether something may be done that is done at most every sixth of a lease, and notes that it is.
func (n *Node) mayRepeat(now grid.Time, last *grid.Time) bool {
	if *last != 0 && now < last.Add(n.cfg.Lease/6) {
		return false
	}
	*last = now
	return true
}

// queryOwner tells those that claim a job what is here of it, and asks the other members whom they follow, by naming an attempt. What waits is
// told of as what runs is: it starts on no claimant's word.
func (n *Node) queryOwner(now grid.Time, id grid.JobID, p *ownerRecord, fx *grid.Effects) {
	works, claimants := n.exec.Of(id, nil), p.claimants(nil)
	if len(works) == 0 {
		return
	}
	for _, to := range p.members {
		switch {
		case to == n.cfg.Self:
		case !n.isConnected(to):
			if slices.Contains(claimants, to) {
				n.dial(now, to, fx)
			}
		case slices.Contains(claimants, to):
			for _, w := range works {
				if w.State == grid.WorkFinished {
					m := fx.Send(to, grid.KindResult)
					m.Attempts, m.Result = append(m.Attempts, w.ID), w.Result
					continue
				}
				m := attemptsMessage(fx, n.firstSend, to, grid.KindBeat)
				m.Attempts = append(m.Attempts, w.ID)
			}
		case to != p.owner:
			m := attemptsMessage(fx, n.firstSend, to, grid.KindBeat)
			m.Attempts = append(m.Attempts, works[0].ID)
		}
	}
}

// informClaimants is askOwner at the regular beat, of all jobs whose owner is in doubt.
func (n *Node) informClaimants(now grid.Time, fx *grid.Effects) {
	for _, list := range [...][]*exec.Work{n.exec.Queue(), n.exec.Running(), n.exec.Finished()} {
		for _, w := range list {
			if p := n.ownerRecords[w.ID.Task.Job]; p != nil && len(p.claimants(nil)) > 0 && n.mayRepeat(now, &p.claims.lastAsked) {
				n.queryOwner(now, w.ID.Task.Job, p, fx)
			}
		}
	}
}
