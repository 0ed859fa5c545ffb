package mutants

import "slices"

// All are the faults: what is wrong then, the file, the text that goes, what stands there instead, and the test that
// finds it.
var All = slices.Concat(general, mapping, machines, registers, signed, workers, storage, swarm, trust)

var general = []Mutant{
	{
		Name: "nobody tells the other its rates",
		File: "sim/queueing/push.go",
		From: `		p.hear(e, j, d)
	}
	p.hear(e, d, j)`,
		To:   `	}`,
		Test: "TestMutualFeedback",
	},
	{
		Name: "who is asked learns nothing of the asker",
		File: "sim/queueing/push.go",
		From: `		p.hear(e, j, d)`,
		To:   "",
		Test: "TestMutualFeedback",
	},
	{
		Name: "an answer does not carry rates",
		File: "sim/queueing/push.go",
		From: `		p.hear(e, j, d)
	}
	p.hear(e, d, j)`,
		To: `		p.hear(e, j, d)
	}`,
		Test: "TestMutualFeedback",
	},
	{
		Name: "nothing is exchanged where all are asked",
		File: "sim/queueing/push.go",
		From: `					p.exchange(e, d, int(j))`,
		To:   "",
		Test: "TestFeedbackWhereAllAreAsked",
	},
	{
		Name: "a late poll does not carry rates",
		File: "sim/queueing/delayed.go",
		From: `			p.hear(e, j, x.decider)`,
		To:   "",
		Test: "TestMutualFeedbackIsLate",
	},
	{
		Name: "a late answer does not carry rates",
		File: "sim/queueing/delayed.go",
		From: `		p.hear(e, x.decider, j)`,
		To:   "",
		Test: "TestMutualFeedbackIsLate",
	},
	{
		Name: "a lost task goes to the tail of its queue",
		File: "sim/queueing/pull.go",
		From: "p.queues[t.class].back(t)",
		To:   "p.queues[t.class].push(t)",
		Test: "TestALostTaskIsFirstAgain",
	},
	{
		Name: "a lost task loses its age",
		File: "sim/queueing/pull.go",
		From: "p.queues[t.class].back(t)",
		To: `t.since = e.now
			p.queues[t.class].back(t)`,
		Test: "TestALostTaskIsFirstAgain",
	},
	{
		Name: "a lost task keeps its size",
		File: "sim/queueing/machine.go",
		From: "m.queue.first().size = e.sys.Service.Draw(e.again)",
		To:   "e.sys.Service.Draw(e.again)",
		Test: "TestALostTaskBeginsAnew",
	},
	{
		Name: "a load that is known to be too high is run as any other",
		File: "sim/queueing/report.go",
		From: "stable(limit) && 2*grow",
		To:   "2*grow",
		Test: "TestOverloadedByAHundredth",
	},
	{
		Name: "a request takes no time",
		File: "sim/queueing/pull.go",
		From: "		p.send(e, j, true)\n		return\n",
		To:   "",
		Test: "TestTakenWithDelay",
	},
	{
		Name: "a task that was on its way to a machine that failed arrives all the same",
		File: "sim/queueing/pull.go",
		From: "	case x.faults != p.faults[x.machine]:\n",
		To:   "",
		Test: "TestFaultsVoidWhatIsUnderWay",
	},
	{
		Name: "a delay holds no machine",
		File: "sim/queueing/load.go",
		From: "return 2 * s.Delay",
		To:   "return 0",
		Test: "TestLimitWithDelay",
	},
	{
		Name: "a class that is kept apart counts on all machines",
		File: "sim/queueing/limit.go",
		From: `line.Class == "" || line.Class == class`,
		To:   `line.Class == "" || class != ""`,
		Test: "TestLimitByHand",
	},
	{
		Name: "a grid of clusters is full only when a run shows it",
		File: "sim/paper/grid.go",
		From: "most >= 1 || rate >= s.Limit(from.Policy)",
		To:   "most >= 1",
		Test: "TestGridOverloadedByAHundredth",
	},
	{
		Name: "what has not begun is not mapped again",
		File: "sim/queueing/mapping.go",
		From: "	b.takeBack(e)\n",
		To:   "",
		Test: "TestNotBegunIsMappedAgain",
	},
	{
		Name: "a machine does its batch in the order of arrival",
		File: "sim/queueing/mapping.go",
		From: "cmp.Compare(b.choices[x].ECT, b.choices[y].ECT)",
		To:   "cmp.Compare(x, y)",
		Test: "TestMappingEvent",
	},
	{
		Name: "what falls under the threshold of spill-over stops at once",
		File: "balance/class_spill.go",
		From: "x.spill = x.busy > p.cfg.SpillHigh || x.spill && x.busy >= p.cfg.SpillBack",
		To:   "x.spill = x.busy > p.cfg.SpillHigh",
		Test: "TestSpillStopsBelowItsSecondThreshold",
	},
	{
		Name: "a change of arrival rates is not looked at",
		File: "balance/allocation.go",
		From: "r.shape || r.arrived && a.arrivalsMoved(r)",
		To:   "r.shape",
		Test: "TestSection42Example",
	},
	{
		Name: "what was sent less than a round trip ago counts as said",
		File: "balance/decider.go",
		From: "d.debits.since(j, before(s.Heard, s.RTT), now)",
		To:   "d.debits.since(j, s.Heard, now)",
		Test: "TestDebit",
	},
	{
		Name: "a refused task still counts as placed",
		File: "balance/guided.go",
		From: "p.quotas.count(&p.rates, &o, -1)",
		To:   "",
		Test: "TestGuidedTakesBackWhatWasRefused",
	},
	{
		Name: "guided policies begin to count anew with each solution",
		File: "balance/quotas.go",
		From: "if q.names[i] != r.names[i] ||",
		To:   "if true ||",
		Test: "TestGuidedThroughChangingRates",
	},
	{
		Name: "a node that has lost its share is owed nothing",
		File: "balance/quotas.go",
		From: "ahead += q.placed.at(i, j) - q.due.at(i, j)",
		To:   "q.due.set(i, j, q.placed.at(i, j))",
		Test: "TestGuidedMakesUpForWhoLeft",
	},
	{
		Name: "switching judges by the answers alone",
		File: "balance/switching.go",
		From: "p.readyAt(now, &v.Nodes[k]))",
		To:   "math.Inf(1))",
		Test: "TestSwitchingJudgesByAllNodes",
	},
	{
		Name: "a far resource answers as soon as a near one",
		File: "sim/brokers/broker.go",
		From: "e.agenda.add(e.now+d.Discovery+3*d.Between, readAt, x)",
		To:   "e.agenda.add(e.now+d.Discovery, readAt, x)",
		Test: "TestStateIsThatOfWhenItIsRead",
	},
	{
		Name: "the way to a far resource takes as long as to a near one",
		File: "sim/brokers/broker.go",
		From: "return e.sys.Delays.Between",
		To:   "return e.sys.Delays.Inside",
		Test: "TestDelays",
	},
	{
		Name: "a resource forgets its queue in what it tells",
		File: "sim/brokers/resource.go",
		From: "s.Ready = max(r.free-now, 0)",
		To:   "s.Ready = 0",
		Test: "TestResourceAgainstATwin",
	},
	{
		Name: "jobs of the warm-up are measured",
		File: "sim/brokers/engine.go",
		From: "x.counts = e.jobs >= e.warmup && e.jobs < e.warmup+e.measured",
		To:   "x.counts = e.jobs < e.measured",
		Test: "TestWarmupIsNotMeasured",
	},
}
