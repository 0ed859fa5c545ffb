package mutants

// mapping are faults of the heuristics that map tasks together, and of their events.
var mapping = []Mutant{
	{
		Name: "max_min takes the shortest task first",
		File: "balance/batch/max_min.go",
		From: "value: k.first",
		To:   "value: -k.first",
		Test: "TestBatchByHand",
		In:   "balance",
	},
	{
		Name: "sufferage looks at the second best node alone",
		File: "balance/batch/sufferage.go",
		From: "(k.second - k.first)",
		To:   "k.second",
		Test: "TestBatchByHand",
		In:   "balance",
	},
	{
		Name: "a task that was mapped again and again goes before none",
		File: "balance/batch/min_min.go",
		From: "-k.first * age",
		To:   "-k.first",
		Test: "TestAgeingPromotes",
	},
	{
		Name: "the second host beside a file makes up for the first",
		File: "balance/batch/batch.go",
		From: "case c < k.second && !same:",
		To:   "case c < k.second:",
		Test: "TestSufferageBetweenClusters",
	},
	{
		Name: "a burst is not mapped before the interval has passed",
		File: "node/mapping/events.go",
		From: "case e.full && room, e.news && e.came > e.cfg.MappingCount:",
		To:   "case e.full && room:",
		Test: "TestEventsByIntervalOrCount",
	},
	{
		Name: "what was mapped and is overdue is not given away",
		File: "node/coordinator/wait.go",
		From: "now >= l.job.expected.overdue",
		To:   "false",
		Test: "TestMappedTaskIsGranted",
		In:   "node",
	},
}
