package chain

import (
	"slices"

	"skep/grid"
)

// MaxEvidence bounds what Evidence returns.
const (
	MaxEvidence = 1 + maxVotes*len(grid.NodeID{}) + SignatureSize
	_           = uint(grid.MaxEvidence - MaxEvidence)
)

// membersIn returns the members and the origin's signature in an evidence.
func membersIn(evidence string) (members []grid.NodeID, genesis string, ok bool) {
	if evidence == "" || evidence[0] < 1 || evidence[0] > maxVotes {
		return nil, "", false
	}
	n := int(evidence[0])
	if len(evidence) != 1+n*len(grid.NodeID{})+SignatureSize {
		return nil, "", false
	}
	evidence = evidence[1:]
	for range n {
		id := grid.NodeID{}
		evidence = evidence[copy(id[:], evidence):]
		members = append(members, id)
	}
	return members, evidence, true
}

// CheckGiven checks, for a node that knows nothing of the job, that an attempt was given to a worker which says so
// itself: the origin has signed the specification and the first members, a majority of these has voted for the owner,
// unless that is the origin in its first epoch, and the owner has signed the assignment. An owner that runs an attempt
// itself signs none: that the request is its own must be known. Whether the attempt is still wanted no signature says.
func CheckGiven(s Signer, self, worker grid.NodeID, id grid.AttemptID, spec *grid.JobSpec, given *grid.Given) error {
	c, err := fromEvidence(s, self, id.Task.Job, spec, given.Evidence)
	if err != nil {
		return err
	}
	return c.checkAssigned(worker, id, given.Assigned)
}

// Shown returns the chain of a job whose members have changed, as an offer of an attempt shows it to a node that knows
// nothing of the job: the origin has signed the first members, and those who were members then each change.
func Shown(s Signer, self grid.NodeID, o *grid.Offer) (*Chain, error) {
	c, err := fromEvidence(s, self, o.ID.Task.Job, o.Spec, o.Evidence)
	if err != nil {
		return nil, err
	}
	return c, c.FollowOffer(o)
}

// FollowOffer is Follow, of the members that an offer of an attempt names.
func (c *Chain) FollowOffer(o *grid.Offer) error {
	return c.Follow(&grid.Membership{Number: o.Changes, Members: o.Members, Links: o.Links})
}

// fromEvidence returns the chain of a job with the members that its origin has chosen.
func fromEvidence(s Signer, self grid.NodeID, id grid.JobID, spec *grid.JobSpec, evidence string) (*Chain, error) {
	members, genesis, ok := membersIn(evidence)
	if !ok || members[0] != id.Origin {
		return nil, wrong(Genesis, "the members and their signature are malformed")
	}
	for k, m := range members {
		if slices.Contains(members[:k], m) {
			return nil, wrong(Genesis, "node %s is a member twice", m.Short())
		}
	}
	c := New(s, self, id, spec, members)
	return c, c.CheckGenesis(genesis)
}

// checkAssigned checks what Assign has returned.
func (c *Chain) checkAssigned(worker grid.NodeID, id grid.AttemptID, assigned string) error {
	if len(assigned) > MaxProof+len(c.job) || len(assigned) < len(c.job) || assigned[:len(c.job)] != string(c.job[:]) {
		return wrong(Assignment, "it is not of this job")
	}
	g, signature, ok := cutGrant(assigned[len(c.job):])
	switch {
	case !ok:
		return wrong(Assignment, "it is malformed")
	case id.Epoch > g.epoch || id.Epoch == 0:
		return wrong(Votes, "an attempt of epoch %d is not that of the owner of epoch %d", id.Epoch, g.epoch)
	}
	if err := c.checkGrant(&g); err != nil {
		return err
	}
	by := assignment(c.job, id, g.owner, worker)
	if signature == "" && g.owner == worker {
		return nil
	}
	if !c.signer.Verify(g.owner, by, []byte(signature)) {
		return wrong(Assignment, "node %s has not given attempt %d.%d of task %d to node %s", g.owner.Short(), id.Epoch, id.N,
			id.Task.Index, worker.Short())
	}
	return nil
}
