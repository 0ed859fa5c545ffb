// Package exec keeps the attempts that a node has accepted: queued and running ones, the free resources, and the
// results that their origins have not acknowledged.
//
// It is pure: it decides what may start, a driver starts it. Queued work waits in lines (package balance/order): whose
// turn it is, is a rule of the node (OrderBy). Within a line, and without a rule in the whole queue, work is first
// come, first served, with two exceptions: a task with a lost earlier attempt goes before tasks that were submitted
// later, and a task too big for the free resources may be passed by smaller ones. Each is passed a bounded number of
// times, so that neither cores idle nor a task starves. The ledger is the only place where resources are taken and
// given back; it panics rather than go negative.
//
// Counted resources (grid.Counts) are taken and given back with cores and memory. Work that lacks units of a kind is
// passed without limit by work that takes none of it, which does not delay it, and MaxPassed times by work that does
// (shortages). Of the waits for cores and for each kind that a task needs the longest counts (backlog).
//
// A gate may keep queued work from starting (Gate). Work that it rejects is asleep: Next skips it without asking the
// gate again, until Wake or its return to the queue. The owner of the gate must wake work that it would accept now.
// What sleeps for long is made dormant (MakeDormant): no estimate counts it. Results to be sent again are a heap by
// their time (ScheduleResend, NextResend).
//
// Queued work may have running work of lower bids suspended (OrderBy, StartSuspending, Resume), as protocol HBP-T of
// [2] does, but what is suspended waits for a bounded time before it goes on first.
//
// The expected waiting time follows [1], chapter 2: the work before a task, served at the rate of all slots, with the
// running tasks counted by their expected remaining time.
//
//	[1] I. Al-Azzoni, Linear Programming Based Affinity Scheduling for Heterogeneous Computing
//	    Systems, PhD thesis, McMaster University, 2009.
//	[2] J. M. Gomoluch, Market Protocols for Computational Clusters and Grids, PhD thesis, City University London,
//	    2004, sections 6.5.5 and 6.5.6.
package exec
