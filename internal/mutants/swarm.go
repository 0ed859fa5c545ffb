package mutants

// swarm are faults that random worlds find: the fault of the world that finds it is drawn, not written down.
var swarm = []Mutant{
	{
		Name: "a node that was put back goes on where it lacks commits",
		File: "node/generation/statement.go",
		From: "st.Boot < s.Boot && st.Saved <= s.Saved",
		To:   "st.Boot < s.Boot",
		Test: "TestSwarmStores",
		In:   "sim",
	},
	{
		Name: "a node that was put back goes on where it lacks starts",
		File: "node/generation/statement.go",
		From: "case own && st.Saved <= saved,",
		To:   "case st.Saved <= saved,",
		Test: "TestSwarmStores",
		In:   "sim",
	},
	{
		Name: "a member that was started again answers writes at once",
		File: "node/replication/put_back.go",
		From: "return !r.heard.restored || bits.OnesCount8(r.heard.members)+1 >= r.Majority()",
		To:   "return !r.heard.restored || bits.OnesCount8(r.heard.members) >= 0",
		Test: "TestSwarmStores",
		In:   "sim",
	},
	{
		Name: "a node that was started again acts at once on what it alone keeps",
		File: "node/replication/put_back.go",
		From: "return !r.heard.restored || r.of.settling.Settled()",
		To:   "return true",
		Test: "TestSwarmStores",
		In:   "sim",
	},
	{
		Name: "a job that was over before a restart is run again at once",
		File: "node/replication/reopen.go",
		From: "r.heard.restored = true",
		To:   "r.heard.restored = false",
		Test: "TestRetriesOfSoleJobsWaitForPeersAfterARestart",
		In:   "node",
	},
	{
		Name: "a record forgets that an end is committed",
		File: "node/p2p/wire/register_record.go",
		From: "Final: e.Committed, Held",
		To:   "Held",
		Test: "TestSwarmBytes",
		In:   "sim",
	},
	{
		Name: "an offer does not say that it answers a pull",
		File: "node/p2p/wire/spec.go",
		From: "o.Stays, o.Pulled, o.Asks = cleanText(p.Class), p.Stamp, p.Stays, p.Pulled, p.Asks",
		To:   "o.Stays, o.Asks = cleanText(p.Class), p.Stamp, p.Stays, p.Asks",
		Test: "TestSwarmBytes",
		In:   "sim",
	},
}
