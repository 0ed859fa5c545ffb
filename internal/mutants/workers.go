package mutants

// workers are faults of who runs attempts and of what is known of them.
var workers = []Mutant{
	{
		Name: "waiting work starts without a start lease",
		File: "node/worker/start_lease.go",
		From: "return now < a.Until",
		To:   "return a != nil",
		Test: "TestQueuedWorkNeedsStartLease",
		In:   "node",
	},
	{
		Name: "a start lease counts from its arrival",
		File: "node/worker/start_lease.go",
		From: "max(a.Until, stampTime(m.Register.Seq).Add(a.Lease))",
		To:   "max(a.Until, now.Add(a.Lease))",
		Test: "TestStartLeaseCountsFromItsRequest",
		In:   "node",
	},
	{
		Name: "waiting work starts after a restart without a start lease",
		File: "node/worker/restore.go",
		From: "r.Inputs)) == 0).Until = -1",
		To:   "r.Inputs)) == 0).Until = grid.Never",
		Test: "TestRestartedWorkerRequestsStartLease",
		In:   "node",
	},
	{
		Name: "a result is counted where run and copy are both lost",
		File: "node/reliability/technique.go",
		From: "course{f * g, 0, (l + copied.Seconds) / 2",
		To:   "course{f * g, t.Value, (l + copied.Seconds) / 2",
		Test: "TestSuccess",
	},
	{
		Name: "a copy runs that gains nothing",
		File: "node/reliability/technique.go",
		From: "gain > t.margin(h, run)",
		To:   "gain >= 0",
		Test: "TestWhatIsChosen",
	},
	{
		Name: "losses are never forgotten",
		File: "node/reputation/hazards.go",
		From: "w := math.Exp2(-d / hazardHalfLife)",
		To:   "w := math.Exp2(0 * -d / hazardHalfLife)",
		Test: "TestHazardsAreANodesOwn",
	},
	{
		Name: "a node's own losses do not count",
		File: "node/reputation/hazards.go",
		From: "return (own.lost + priorLosses) /",
		To:   "return (0*own.lost + priorLosses) /",
		Test: "TestHazardsAreANodesOwn",
	},
	{
		Name: "the node that lost an attempt last is forgotten first",
		File: "node/reputation/hazards.go",
		From: "h.nodes[i].at < h.nodes[oldest].at",
		To:   "h.nodes[i].at > h.nodes[oldest].at",
		Test: "TestHazardsAreBounded",
	},
	{
		Name: "a long run is lost as often as a short one",
		File: "node/reputation/hazards.go",
		From: "max(seconds, 0))",
		To:   "min(max(seconds, 0), 1))",
		Test: "TestHazardsAreANodesOwn",
	},
}
