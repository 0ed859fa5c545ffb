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

// claim is what a member says of a register's owner.
type claim struct {
	owner grid.NodeID
	epoch uint32
}

// believed is what is known and said of who keeps a register.
type believed struct {
	sure    bool      // its members are the word of the job's origin
	claim   claim     // of a member that says it is the owner, and has not written to this node
	claimed grid.Time // when the others were watched because of one
}

// claims are what the members of a job's register have said, as a worker was told.
type claims struct {
	of    [grid.MaxMembers]claim // by place; the newest epoch that it spoke of
	asked grid.Time              // when the others were asked last
}

// owners appends the members that say of themselves that they own the register in an epoch above the one known.
func (p *post) owners(dst []grid.NodeID) []grid.NodeID {
	for place, id := range p.members {
		if c := p.claims.of[place]; c.owner == id && c.epoch > p.epoch && id != p.owner {
			dst = append(dst, id)
		}
	}
	return dst
}

// elected returns the claim that a majority of the members agree with; zero = there is none.
func (p *post) elected() claim {
	for place, id := range p.members {
		own, agree := p.claims.of[place], 0
		if own.owner != id || own.epoch <= p.epoch {
			continue
		}
		for other := range p.members {
			if c := p.claims.of[other]; c.owner == id && c.epoch > p.epoch {
				agree++
			}
		}
		if agree > len(p.members)/2 {
			return own
		}
	}
	return claim{}
}

// claimed takes a word about who owns a register.
func (n *Node) claimed(now grid.Time, from grid.NodeID, id grid.JobID, c claim, fx *grid.Effects) {
	if j := n.job(id); j != nil && j.guard != nil {
		n.claimedOf(now, from, j, c, fx)
	}
	p := n.posts[id]
	if p == nil || p.owner == n.cfg.Self || c.owner == n.cfg.Self || c.epoch <= p.epoch || !slices.Contains(p.members, c.owner) {
		return
	}
	place := slices.Index(p.members, from)
	if place < 0 || place >= len(p.claims.of) || p.claims.of[place].epoch >= c.epoch {
		return
	}
	p.claims.of[place] = c
	if won := p.elected(); won != (claim{}) {
		n.serve(now, id, won, fx)
		return
	}
	if n.rarely(now, &p.claims.asked) {
		n.askOwner(now, id, p, fx)
	}
}

// claimedOf is claimed of a register that this node is a member of. Whoever really owns it writes to this node, too.
func (n *Node) claimedOf(now grid.Time, from grid.NodeID, j *job, c claim, fx *grid.Effects) {
	g := j.guard
	if n.outsider(j, from) {
		if g.sure { // else the members may be made up, and who speaks one of the others
			n.unasked(from, fx)
		}
		return
	}
	if c.owner != from || c.epoch <= max(g.epoch, g.claim.epoch) {
		return
	}
	g.claim = c
	if !g.reg.Leads() || !n.rarely(now, &g.claimed) {
		return
	}
	for _, id := range g.reg.Members() {
		if id == n.cfg.Self {
			continue
		}
		if p := n.pair(id); p.seq == 0 { // else the answer to the one under way will tell
			n.watchOver(now, p, n.shared(id), fx)
		}
	}
}

// rarely reports whether something may be done that is done at most every sixth of a lease, and notes that it is.
func (n *Node) rarely(now grid.Time, last *grid.Time) bool {
	if *last != 0 && now < last.Add(n.cfg.Lease/6) {
		return false
	}
	*last = now
	return true
}

// askOwner tells those that claim a job what is here of it, and asks the other members whom they follow, by naming an attempt. What waits is
// told of as what runs is: it starts on no claimant's word.
func (n *Node) askOwner(now grid.Time, id grid.JobID, p *post, fx *grid.Effects) {
	works, claimants := n.exec.Of(id, nil), p.owners(nil)
	if len(works) == 0 {
		return
	}
	for _, to := range p.members {
		switch {
		case to == n.cfg.Self:
		case !n.reaches(to):
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
				m := batch(fx, n.sent, to, grid.KindBeat)
				m.Attempts = append(m.Attempts, w.ID)
			}
		case to != p.owner:
			m := batch(fx, n.sent, to, grid.KindBeat)
			m.Attempts = append(m.Attempts, works[0].ID)
		}
	}
}

// tellClaimants is askOwner at the regular beat, of all jobs whose owner is in doubt.
func (n *Node) tellClaimants(now grid.Time, fx *grid.Effects) {
	for _, list := range [...][]*exec.Work{n.exec.Queue(), n.exec.Running(), n.exec.Finished()} {
		for _, w := range list {
			if p := n.posts[w.ID.Task.Job]; p != nil && len(p.owners(nil)) > 0 && n.rarely(now, &p.claims.asked) {
				n.askOwner(now, w.ID.Task.Job, p, fx)
			}
		}
	}
}
