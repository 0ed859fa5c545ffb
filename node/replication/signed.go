package replication

import (
	"skep/grid"
	"skep/node/chain"
)

// Registers of signed jobs. What a member takes from another one it checks first: that a majority has voted for the
// owner of an epoch, and how a task has ended. What does not hold changes nothing here.

// begin returns the chain of a signed job, nil of another one. The origin signs a new one.
func (s *Replicas) begin(id grid.JobID, spec *grid.JobSpec, members []grid.NodeID,
	state *grid.RegisterState) *chain.Chain {
	if !spec.Signed || s.cfg.Signer == nil {
		return nil
	}
	c := chain.New(s.cfg.Signer, s.cfg.Self, id, spec, members)
	if state.Set != nil && c.Follow(state.Set) != nil {
		panic("register: the changes of members that were checked before they were kept hold no more")
	}
	if state.Genesis == "" && id.Origin == s.cfg.Self {
		state.Genesis = c.SignGenesis()
	}
	return c
}

// Admits reports whether a job that another node describes may be kept: of a signed one its origin has signed the first
// members, and those that were members then each change.
func (s *Replicas) Admits(g *grid.RegisterMessage) bool {
	if !g.Spec.Signed {
		return true
	}
	if s.cfg.Signer == nil {
		return false
	}
	c := chain.New(s.cfg.Signer, s.cfg.Self, g.Job, g.Spec, g.Members)
	return c.CheckGenesis(g.Genesis) == nil && (g.Set == nil || c.Follow(g.Set) == nil)
}

// mandate is the votes by which this member has won its campaign, its own among them.
func (r *Register) mandate(epoch uint32, self grid.NodeID) string {
	if r.chain == nil {
		return ""
	}
	var votes []chain.CastVote
	for place, v := range r.campaign.votes {
		switch {
		case place >= len(r.Members()): // the member that is replaced: the others are a majority of those after it
		case place == r.self:
			votes = append(votes, chain.CastVote{Place: uint8(place), Signature: r.chain.Vote(epoch, self)})
		case v.answer == grid.RegisterOK && v.complete:
			votes = append(votes, chain.CastVote{Place: uint8(place), Signature: v.signed})
		}
	}
	return chain.Mandate(votes)
}

// ownSigned has this member sign as the owner of its epoch.
func (r *Register) ownSigned() {
	if r.chain != nil {
		r.chain.Own(r.state.Epoch, r.state.Mandate)
	}
}

// signVote returns this member's signature of its vote for the owner of an epoch; "" if it is none, or not signed.
func (r *Register) signVote(a grid.RegisterAnswer, epoch uint32, owner grid.NodeID) string {
	if r.chain == nil || a != grid.RegisterOK {
		return ""
	}
	return r.chain.Vote(epoch, owner)
}

// provenWrite reports whether the sender of a write owns its epoch, and the ends in it are signed. The origin is
// believed about ends: it could only belie its own job. A write of an epoch below the one promised changes nothing.
// Who has no votes to show is an offender. Who passes on an end that nobody has signed need not be: it may have that
// from the origin, whose ends no member checks.
func (r *Replica) provenWrite(from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) bool {
	s := &r.state
	if r.chain == nil || g.Epoch < s.Promised || r.Place(from) < 0 {
		return true
	}
	if (g.Epoch != s.Epoch || from != s.Owner) &&
		r.chain.CheckOwner(g.Epoch, from, g.Mandate, r.seats.Settled()) != nil {
		fx.Offences = append(fx.Offences, from)
		return false
	}
	return from == r.id.Origin || r.provenEnds(g.Entries)
}

// provenVote reports whether an answer to this member's campaign is signed, and the ends in it are. Offenders as in
// provenWrite.
func (r *Replica) provenVote(from grid.NodeID, a *grid.RegisterMessage, fx *grid.Effects) bool {
	if r.chain == nil || r.campaign == nil {
		return true
	}
	if a.Answer == grid.RegisterOK && a.Epoch == r.campaign.epoch {
		if !r.chain.Knows(linksOf(a.Set)) { // it had not heard of a change of members when it voted: it is asked again
			return false
		}
		if r.chain.CheckVote(from, a.Epoch, r.of.cfg.Self, a.Vote) != nil {
			fx.Offences = append(fx.Offences, from)
			return false
		}
	}
	return r.provenEnds(a.Entries)
}

func (r *Replica) provenEnds(entries []grid.Entry) bool {
	for k := range entries {
		if _, err := r.chain.Check(&entries[k]); err != nil {
			return false
		}
	}
	return true
}

// provenOwner reports whether a node that somebody says owns an epoch has the votes for it. Who says so with votes that
// are none is an offender.
func (r *Replica) provenOwner(from grid.NodeID, epoch uint32, owner grid.NodeID, mandate string,
	fx *grid.Effects) bool {
	if r.chain == nil || r.chain.CheckOwner(epoch, owner, mandate, r.seats.Settled()) == nil {
		return true
	}
	fx.Offences = append(fx.Offences, from)
	return false
}

// provenClaim reports whether a node that says it owns an epoch has the votes for it.
func (r *Replica) provenClaim(from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) bool {
	if r.chain == nil {
		return true
	}
	before := r.state
	r.heed(from, g.Set, fx)
	r.saveIfChanged(&before, fx)
	return r.provenOwner(from, g.Epoch, from, g.Mandate, fx)
}

// OfferedBy reports whether a node may offer an attempt of the job, as far as the votes go that an offer of a signed
// job carries: one of a later epoch than the owner's that is known here must have them, by members that follow from
// those known here. Who has not is an offender.
func (r *Replica) OfferedBy(from grid.NodeID, o *grid.Offer, fx *grid.Effects) bool {
	if r.chain == nil || from == r.of.cfg.Self || o.ID.Epoch <= r.ownerEpoch || r.Place(from) < 0 {
		return true
	}
	err := r.chain.CheckOffer(from, o.ID.Attempt, o.Assigned)
	if err != nil && o.Changes > r.seats.Number() { // it has not heard of them: with a write it will
		c := *r.chain
		if err = c.FollowOffer(o); err == nil {
			err = c.CheckOffer(from, o.ID.Attempt, o.Assigned)
		}
	}
	if err != nil {
		fx.Offences = append(fx.Offences, from)
		return false
	}
	return true
}

// Mandate returns the votes for the owner that Owner returns, as far as they are known here: of a signed job, beyond
// the first epoch.
func (r *Replica) Mandate() string {
	if r.state.Owner != r.owner || r.state.Epoch != r.ownerEpoch {
		return ""
	}
	return r.state.Mandate
}

// namesOwner reports whether this node can prove who owns the newest epoch that it knows of.
func (r *Replica) namesOwner() bool {
	return r.chain == nil || r.state.Owner == r.owner && r.state.Epoch == r.ownerEpoch
}

// Prove adds to an offer what this node, the owner, signs that gives the attempt to a worker, and what proves who keeps
// the job to those who know nothing of it: to the holders of its secrets, and where members have changed.
func (r *Replica) Prove(o *grid.Offer, worker grid.NodeID) {
	if r.chain == nil {
		return
	}
	o.Assigned, o.Links = r.chain.Assign(o.ID.Task.Index, o.ID.Attempt, worker), r.links()
	if len(r.spec.Secrets) > 0 || o.Links != "" {
		o.Evidence = r.chain.Evidence(r.state.Genesis)
	}
}

// SignEnd returns the result with which this node, the owner, ends a task, signed if no worker has signed it.
func (r *Replica) SignEnd(task uint32, end *grid.Result) *grid.Result {
	if r.chain == nil {
		return end
	}
	return r.chain.ByOwner(task, end)
}

// Proves reports whether a worker has signed the result of an attempt that it was given. Its own a node need not check.
func (r *Replica) Proves(worker grid.NodeID, id grid.AttemptID, end *grid.Result) bool {
	if r.chain == nil || worker == r.of.cfg.Self {
		return true
	}
	return r.chain.CheckResult(worker, id, end) == nil
}
