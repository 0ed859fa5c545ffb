// Package recovery simulates tasks on clusters whose runs may fail, and what is done about it: nothing, a second run
// after the failure, or two runs at once, as an allocation by utility and knapsack chooses among them [1, chapter 7].
//
// All tasks are there at the beginning, each of one processor. A task has an option for each cluster and technique,
// with a value that its owner would give for it. Every so often free processors are given to waiting tasks; nothing is
// suspended. A run fails once at most, at a time that is uniform over it. All strategies of an experiment have the same
// tasks, values and failures.
//
// What [1] leaves open is a field of [System], read as its comment says.
//
// Sources:
//
//	[1] D. C. Vanderster, Resource Allocation and Scheduling Strategies using Utility and the Knapsack Problem on
//	    Computational Grids, PhD thesis, University of Victoria, 2008.
package recovery
