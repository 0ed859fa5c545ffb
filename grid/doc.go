// Package grid holds the types that every other package shares: who a node is, what a job, a task and
// an attempt are, what a node says about itself, and what goes into and comes out of one step of it.
//
// There is no logic here beyond printing, parsing and checking bounds. The central idea is that a node
// is a pure state machine: one [Event] and the time go in, and what the node wants done is appended to
// [Effects]. Drivers own clocks, sockets, disks and processes; the same node therefore runs on real
// machines and, by the thousand, in the simulator.
//
// Ownership: *Ad, *JobSpec and *Result are immutable once built and may be kept and shared. Everything
// else that is reachable from an event or from the effects is dead after the step: whoever needs it
// longer copies it.
//
// Sources, cited by number in this module:
//
//	[1] I. Al-Azzoni, Linear Programming Based Affinity Scheduling for Heterogeneous Computing
//	    Systems, PhD thesis, McMaster University, 2009.
package grid
