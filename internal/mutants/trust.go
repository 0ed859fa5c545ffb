package mutants

// trust are faults by which a hostile member, an older version or a disk is believed.
var trust = []Mutant{
	{
		Name: "one tombstone outweighs the votes of a majority",
		File: "node/replication/outcome.go",
		From: "\tcase r.decides(granted): // the tombstone is none\n\t\tr.closedIn = 0\n\t\treturn r.countVotes(seq)\n",
		To:   "",
		Test: "TestCloseNeedsAnOutcome",
	},
	{
		Name: "a job is closed without an outcome",
		File: "node/replication/outcome.go",
		From: "if f := r.newest(i); f == nil || f.Open() { // a closed",
		To:   "if f := r.newest(i); f == nil && false { // a closed",
		Test: "TestCloseNeedsAnOutcome",
	},
	{
		Name: "one member uses up the epochs",
		File: "node/replication/campaign.go",
		From: "return epoch <= r.state.Promised || epoch-r.state.Promised <= max(left>>8, 1)",
		To:   "return left >= 0",
		Test: "TestCloseNeedsAnOutcome",
	},
	{
		Name: "an owner does not sign the ends that no worker has",
		File: "node/replication/signed.go",
		From: "return r.chain.ByOwner(task, end)",
		To:   "return end",
		Test: "TestSwarmSigned",
		In:   "sim",
	},
	{
		Name: "members are chosen whatever their version",
		File: "node/membership/pending.go",
		From: "features := spec.MemberFeatures()",
		To:   "features := spec.MemberFeatures() & 0",
		Test: "TestSwarmVersions",
		In:   "sim",
	},
	{
		Name: "a record is sound whatever its sum",
		File: "node/p2p/store/sums/sums.go",
		From: "return value, binary.BigEndian.Uint64(stored[sumAt:]) == sum(key, value)",
		To:   "return value, true",
		Test: "TestSwarmDamage",
		In:   "sim",
	},
	{
		Name: "members take ends that nobody has signed",
		File: "node/replication/signed.go",
		From: "if _, err := r.chain.Check(&entries[k]); err != nil {",
		To:   "if _, err := r.chain.Check(&entries[k]); err != nil && false {",
		Test: "TestSwarmForgedEnds",
		In:   "sim",
	},
	{
		Name: "members take writes of an owner without votes",
		File: "node/replication/signed.go",
		From: "r.chain.CheckOwner(g.Epoch, from, g.Mandate, r.seats.Settled()) != nil {",
		To:   "r.chain.CheckOwner(g.Epoch, from, g.Mandate, r.seats.Settled()) != nil && false {",
		Test: "TestSwarmHostileKeepers",
		In:   "sim",
	},
	{
		Name: "an owner takes a result that no worker has signed",
		File: "node/replication/signed.go",
		From: "return r.chain.CheckResult(worker, id, end) == nil",
		To:   "return true",
		Test: "TestSwarmForgedEnds",
		In:   "sim",
	},
}
