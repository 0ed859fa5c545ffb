package node

import (
	"slices"

	"skep/exec"
	"skep/grid"
	"skep/node/replication"
)

// Claims of ownership. A takeover message (KindTakeover) counts from a member about itself, and is only a reason to
// ask. An owner sends keepalives to the other members at once and goes on until a majority denies its epoch. A worker
// reports its attempts to the claimant too, asks the other members, and follows the claim when a majority of the
// members agrees. So no single node can make an owner or a worker let go of anything, and a false claim costs a few
// messages each sixth of a lease.

// memberClaims are the statements of a register's members about its owner, as a worker received them.
type memberClaims struct {
	byPlace   [grid.MaxMembers]replication.Claim // by the member's place; newest epoch that it stated
	lastAsked grid.Time                          // when the other members were last asked
}

// claimants appends the members that claim the register for themselves in an epoch above the known one.
func (rec *ownerRecord) claimants(dst []grid.NodeID) []grid.NodeID {
	for place, id := range rec.members {
		if c := rec.claims.byPlace[place]; c.Owner == id && c.Epoch > rec.epoch && id != rec.owner {
			dst = append(dst, id)
		}
	}
	return dst
}

// majorityClaim returns the claim on which a majority of the members agrees; zero = none.
func (rec *ownerRecord) majorityClaim() replication.Claim {
	for place, id := range rec.members {
		claim, votes := rec.claims.byPlace[place], 0
		if claim.Owner != id || claim.Epoch <= rec.epoch {
			continue
		}
		for other := range rec.members {
			if c := rec.claims.byPlace[other]; c.Owner == id && c.Epoch > rec.epoch {
				votes++
			}
		}
		if votes > len(rec.members)/2 {
			return claim
		}
	}
	return replication.Claim{}
}

// ownerClaimed handles a statement about who owns a register.
func (n *Node) ownerClaimed(now grid.Time, from grid.NodeID, id grid.JobID, c replication.Claim, fx *grid.Effects) {
	if j := n.job(id); j != nil && j.replica != nil {
		n.replicaClaimed(now, from, j, c, fx)
	}
	rec := n.ownerRecords[id]
	if rec == nil || rec.owner == n.cfg.Self || c.Owner == n.cfg.Self || c.Epoch <= rec.epoch || !slices.Contains(rec.members, c.Owner) {
		return
	}
	place := slices.Index(rec.members, from)
	if place < 0 || place >= len(rec.claims.byPlace) || rec.claims.byPlace[place].Epoch >= c.Epoch {
		return
	}
	rec.claims.byPlace[place] = c
	if winner := rec.majorityClaim(); winner != (replication.Claim{}) {
		n.followOwner(now, id, winner, fx)
		return
	}
	if n.mayRepeat(now, &rec.claims.lastAsked) {
		n.queryOwner(now, id, rec, fx)
	}
}

// replicaClaimed handles a claim about a register of which this node is a member. A real owner also writes to this
// node.
func (n *Node) replicaClaimed(now grid.Time, from grid.NodeID, j *job, c replication.Claim, fx *grid.Effects) {
	rep := j.replica
	if n.isOutsider(j, from) {
		if rep.MembersVerified { // else the members may be forged, and the sender may be a real one
			n.countOffence(from, fx)
		}
		return
	}
	n.replicas.Claimed(now, from, rep.Replica, c, fx)
}

// mayRepeat reports whether an action limited to once each sixth of a lease is due, and records that it is done now.
func (n *Node) mayRepeat(now grid.Time, last *grid.Time) bool {
	if *last != 0 && now < last.Add(n.cfg.Lease/6) {
		return false
	}
	*last = now
	return true
}

// queryOwner reports this node's attempts of a job to the claimants, and asks the other members whom they follow by
// sending a beat with one attempt. Waiting attempts are reported like running ones: a claim alone starts none of
// them.
func (n *Node) queryOwner(now grid.Time, id grid.JobID, rec *ownerRecord, fx *grid.Effects) {
	works, claimants := n.exec.Of(id, nil), rec.claimants(nil)
	if len(works) == 0 {
		return
	}
	for _, to := range rec.members {
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
		case to != rec.owner:
			m := attemptsMessage(fx, n.firstSend, to, grid.KindBeat)
			m.Attempts = append(m.Attempts, works[0].ID)
		}
	}
}

// informClaimants calls queryOwner at the regular beat for all jobs whose owner is disputed.
func (n *Node) informClaimants(now grid.Time, fx *grid.Effects) {
	for _, list := range [...][]*exec.Work{n.exec.Queue(), n.exec.Running(), n.exec.Finished()} {
		for _, w := range list {
			if rec := n.ownerRecords[w.ID.Task.Job]; rec != nil && len(rec.claimants(nil)) > 0 && n.mayRepeat(now, &rec.claims.lastAsked) {
				n.queryOwner(now, w.ID.Task.Job, rec, fx)
			}
		}
	}
}
