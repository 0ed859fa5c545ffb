package mutants

// signed are faults in what is checked of signed jobs.
var signed = []Mutant{
	{
		Name: "members are followed without their signatures",
		File: "node/replication/change_members.go",
		From: "if r.chain != nil && r.chain.Follow(m) != nil {",
		To:   "if r.chain != nil && r.chain.Follow(m) != nil && false {",
		Test: "TestUnsignedMembershipsAreForged",
	},
	{
		Name: "a change of members is made before they have signed it",
		File: "node/replication/endorsement.go",
		From: "return o.proposal.next.Decides(signed)",
		To:   "return true",
		Test: "TestUnsignedMembershipsAreForged",
	},
	{
		Name: "a minority of the members before a change signs it",
		File: "node/chain/change.go",
		From: "before < n/2+1",
		To:   "before < 0",
		Test: "TestForgedChanges",
	},
	{
		Name: "a claim of a signed job counts without votes",
		File: "node/replication/member.go",
		From: "if !r.provenClaim(from, g, fx) {",
		To:   "if false {",
		Test: "TestClaimsNeedVotes",
	},
	{
		Name: "an owner that an answer names is believed without votes",
		File: "node/replication/succession.go",
		From: "if !r.provenOwner(from, a.Epoch, a.Owner, a.Mandate, fx) {",
		To:   "if false {",
		Test: "TestClaimsNeedVotes",
	},
	{
		Name: "a worker follows who offers in a later epoch without votes",
		File: "node/worker/offer_rights.go",
		From: "w.isProven(from, o, rec, fx)",
		To:   "true",
		Test: "TestOffersOfLaterEpochsNeedVotes",
	},
	{
		Name: "a worker follows who says that members have changed, without the changes",
		File: "node/worker/offer_rights.go",
		From: "if !o.Spec.Signed || w.cfg.Signer == nil {",
		To:   "if !o.Spec.Signed || w.cfg.Signer == nil || o.Changes > 0 {",
		Test: "TestOffersAfterChangesOfMembersNeedVotes",
	},
	{
		Name: "a member believes who says that members have changed, without the changes",
		File: "node/replication/signed.go",
		From: "if err = c.FollowOffer(o); err == nil {",
		To:   "if err = nil; err != nil {",
		Test: "TestOffersShowTheChangesOfMembers",
	},
}
