// Package reallocation simulates a grid of clusters whose tasks can be suspended at no cost and run on more or fewer
// processors, and compares periodic reallocation by utility and knapsack with other strategies [1, chapter 4].
//
// A task has options: numbers of processors on clusters. Each takes its work over processors and performance in time,
// exactly. What it is worth falls faster than its processors do. Strategies see all that is known: what waits, what
// runs and for how long. Events at one instant come in the order completions, arrivals, tick; the same system,
// experiment and strategy always give the same run, and all strategies of an experiment have the same tasks.
//
// Tasks may have inputs, which take storage on a cluster and time to get there [1, chapter 6]: see [Data].
//
// What [1] leaves open is a field of [System], read as its comment says.
//
// Sources:
//
//	[1] D. C. Vanderster, Resource Allocation and Scheduling Strategies using Utility and the Knapsack Problem on
//	    Computational Grids, PhD thesis, University of Victoria, 2008.
package reallocation
