// Package reallocation allocates the cores of one machine anew, among what runs and what waits: a task that runs may
// have to stand still for one that is worth more.
//
// At an event, which is a tick or, where that is wanted, a task's arrival, a [Chooser] solves a knapsack: an item for
// each task, with what it takes and how good it would be to run it now (package utility). The machine then suspends,
// resumes and starts tasks until those run that were chosen. [Ticks] says when the events are. Between two of them
// what becomes free is filled as ever, so no core is idle while a task waits that fits: that is UM+BF of
// [1, section 4.3], whose pure UM leaves cores idle until the next tick.
//
// The credits of a task are what it bids for each core, times its cores: so many it brings in each second in which it
// runs.
//
// Departures from [1]: one machine is allocated, and not all of a grid's by one who knows them. A task that was
// suspended keeps its memory. To suspend a task takes something, so one that runs counts for [Stays] times as much as
// one that does not. Who runs a machine bounds how often and for how long a task is suspended.
//
// Sources:
//
//	[1] D. C. Vanderster, Resource Allocation and Scheduling Strategies using Utility and the Knapsack Problem on
//	    Computational Grids, PhD thesis, University of Victoria, 2008.
package reallocation
