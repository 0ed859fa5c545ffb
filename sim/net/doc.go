// Package net simulates whole grids: a scenario of groups of machines, a network, a workload and faults is
// run on the real node in package sim, several times over, and measured.
//
// The central idea is that a scenario is data and the run is package sim's: this package draws arrivals,
// sessions and distances from the seed, makes of them what a world is made of, lets the world run, looks
// at it while it does, and turns what came of it into estimates with confidence intervals. All chance
// comes from Scenario.Seed: replication r runs under seed Seed + r, so any one of them can be run alone.
//
// A scenario is read from a YAML file by [ParseScenario], which says all that is wrong with one at once, by line.
//
// Sources, cited by number in this package:
//
//	[1] S. J. Chapin and others, Benchmarks and standards for the evaluation of parallel job schedulers,
//	    JSSPP 1999 (the Standard Workload Format).
//	[2] R. Jain, D.-M. Chiu, W. Hawe, A quantitative measure of fairness and discrimination for resource
//	    allocation in shared computer systems, DEC-TR-301, 1984.
//	[3] B. M. Waxman, Routing of multipoint connections, IEEE JSAC 6(9), 1988 (nodes as points in a plane).
package net
