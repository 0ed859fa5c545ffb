// Package rates measures what the allocation takes as known: by class, the arrival rate of tasks at this node (α, tasks
// per second) and the execution rate of one slot of it (μ, tasks per second).
//
// An [Estimator] is told of arrivals, runs, results and moves, and answers what to expect of the next task of a class.
// What this node has measured itself counts first. For a class that it has never run, the typical rate of the network
// is scaled by this node's speed: the median over the nodes that have measured it, which the caller hands in as
// [StatedRates]. [Estimator.Publish] turns the measurements into the rates that others are told, with a version.
//
// Classes have finer levels: what a program is given to run. A level has an estimate of its own once there are enough
// results, drawn towards that of the class ([2], level.go), and is told to others only where that explains the spread.
//
// It holds no reference to its caller. What a caller has to act on is appended to the effects (records of classes) or
// fetched with [Estimator.TakeChange].
//
// Sources:
//
//	[1] I. Al-Azzoni, Linear Programming Based Affinity Scheduling for Heterogeneous Computing
//	    Systems, PhD thesis, McMaster University, 2009: chapter 4, arrival and execution rates.
//	[2] H. Bühlmann, Experience rating and credibility, ASTIN Bulletin 4 (3), 1967, 199-207.
package rates
