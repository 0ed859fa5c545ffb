package balance

import (
	"errors"
	"fmt"
	"time"

	"skep/lpas"
)

// Config shapes the policies. Its zero value is the reading of the theses; [Node] is what a real node
// starts from.
type Config struct {
	// PollMax bounds the other nodes polled for one task; 0 = all that the policy would ask. Besides them
	// go the decider itself, which costs nothing, and the one further node of Explore, or that mct and olb
	// add at random. A number given as KPB is not bounded by it. Node: 4, so that a lab of equal machines
	// is not polled whole. Higher finds a sooner node and costs two messages for each.
	PollMax int

	// Resolve is by what share a rate must move from what the LP was solved for before it is solved
	// again; 0 = any change. Node: 0.10. Higher saves CPU and follows changes later.
	Resolve float64

	// Explore is the share of decisions that also ask a node outside the support, so that views cannot
	// freeze; 0 = never. Node: 0.05.
	Explore float64

	// NearTie is the share within which expected completion times count as equal and are drawn from at
	// random; 0 = exactly equal. Node: 0.05. Higher spreads more and chooses worse.
	NearTie float64

	// FirstTie takes the first of equal ones, in the order of identities, and not one at random. Node: false,
	// or deciders that know the same would all name the same.
	FirstTie bool

	// Debit charges a chosen node locally until it has had time to tell of the task itself. Node: true.
	Debit bool

	// Rest counts a running task by what is likely left of it in expected completion times, the less by its age the
	// more the run times of its class vary, and sees that it takes longer than its class; false = in full, at its
	// mean, as in [1]. Node: true. It is the node that reckons so, not a policy.
	Rest bool

	// Availability makes a node's capacity in the LP its cores times the share of them, and of the time, in which they
	// are there, as in LPAS_DG [1, section 3.2], and expected times those of what others leave; false = the cores in full,
	// as in LPAS_dec [1, section 4.2]. Node: true. It is the node that reckons so.
	Availability bool

	// Classes bounds the classes the LP is solved for, busiest first, the rest counted together; 0 = all.
	// Node: 16.
	Classes int

	// KPB is the number of machines of kpb; 0 = a third of those that fit, at least 1 and at most PollMax.
	KPB int

	// KPBPart, where KPB is 0, is the part of the machines that kpb and kpb_ceil take, in (0, 1]; 0 = a third of
	// those that fit for kpb, and a fifth for kpb_ceil.
	KPBPart float64

	// Pointer says how that of cb_rr and cb_frr moves. By default by one for each task that is not served at
	// home, as in [4], by which clusters get uneven shares.
	Pointer Pointer

	// SpillHigh and SpillBack are the shares of time that the nodes of a class are busy above which cb_spill lets
	// its tasks go to nodes of another class with empty queues, and below which it stops; 0 = 0.85 and 0.75, as [4] has
	// been completed. SpillLow is the share from which on a class lends nothing; 0 = 0.95. Lower SpillHigh helps an
	// overloaded class sooner and takes more from the others.
	SpillHigh, SpillBack, SpillLow float64

	// SpillMemory is the time constant of these shares; 0 = 6,000 s, sixty mean tasks of [4]. Node: 60 s. Higher is
	// steadier and later.
	SpillMemory time.Duration

	// Bandwidth is what a link is taken to have that was not measured, bytes per second, where a policy counts the time
	// for inputs; 0 = they take none. Node: 12.5e6, a link of 100 Mbit/s. It is the node that reckons with it. Lower keeps
	// the tasks of a job with large inputs together.
	Bandwidth float64

	// Guide is the constant C of guided_lpas, tasks for each root of a second by which a node may be ahead of
	// its share; 0 = 1, as in [1]. Higher guides less.
	Guide float64

	Batching

	// SwitchLow and SwitchHigh are the thresholds of switching, from 0 to 1; 0 and 0 = 0.6 and 0.9. Further
	// apart it changes its mind more seldom.
	SwitchLow, SwitchHigh float64

	// Scratch is lent to the LP; nil = the policy has its own. Deciders that never run at the same time
	// can share one.
	Scratch *lpas.Workspace
}

// Batching is what policies that place many tasks at once are told.
type Batching struct {
	// Ageing is the time by which waiting tasks gain priority under min_min and its kin, seconds: one that has waited for
	// nine tenths of it counts a tenth of its completion time; 0 = no ageing. Lower starves nobody, and comes nearer to
	// the order of arrival.
	Ageing float64

	// Copies is how many copies of a task workqueue may have at once, of jobs that are idempotent; 0 = 1. With 2 the last
	// tasks of an array end sooner where nodes differ, for the work of the copies that come second.
	Copies int

	// Row is the row of the market that a policy of one follows, with its parameter, as in hbp_t:5; "" = that of the
	// policy's name.
	Row string

	// Utility is the name of the function by which the policy of that name values ways to run a task, as credit:0.6; "" =
	// balanced.
	Utility string
}

// Pointer says how a round robin pointer moves.
type Pointer string

// How it moves.
const (
	PointerStep  Pointer = ""      // by one for each task
	PointerPast  Pointer = "past"  // behind the cluster that served: even shares
	PointerClass Pointer = "class" // by one, each class having its own
)

// Node returns the defaults of a real node.
func Node() Config {
	return Config{PollMax: 4, Resolve: 0.10, Explore: 0.05, NearTie: 0.05, Debit: true, Rest: true, Availability: true,
		Classes: 16, SpillMemory: time.Minute,
		Bandwidth: 12.5e6}
}

// Most that a node may be told of its policies.
const (
	maxPolled  = 1 << 16
	maxResolve = 100
)

// Check reports everything that is wrong with what nodes are told by name, each problem with its field, its value and
// what would be right.
func (c *Config) Check() error {
	var all []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			all = append(all, fmt.Errorf("balance: "+format, args...))
		}
	}
	want(c.PollMax >= 0 && c.PollMax <= maxPolled, "poll_max %d: want 0 (all) to %d nodes", c.PollMax, maxPolled)
	want(c.Resolve >= 0 && c.Resolve <= maxResolve, "resolve %g: want 0 (any change) to %d", c.Resolve, maxResolve)
	want(c.Explore >= 0 && c.Explore <= 1, "explore %g: want 0 to 1", c.Explore)
	want(c.NearTie >= 0 && c.NearTie <= 1, "near_tie %g: want 0 to 1", c.NearTie)
	want(c.Classes >= 0 && c.Classes <= MaxClasses, "classes %d: want 0 (all that are kept) to %d", c.Classes, MaxClasses)
	want(c.KPB >= 0 && c.KPB <= maxPolled, "kpb %d: want 0 (a third of those that fit) to %d nodes", c.KPB, maxPolled)
	return errors.Join(all...)
}
