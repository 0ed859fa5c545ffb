// Package allocator decides in one allocation cycle which of the tasks that wait begin where, and as which option of
// their jobs: it values each way in which a task could run, and fills what nodes have free with as much utility as fits
// [1, chapter 4].
//
// A cycle has two stages. The first is a multiple-choice knapsack: items are tasks, the options of an item are its ways
// (a node, and an option of the job) that could begin next, capacities are the cores and the counted resources that
// nodes have free. The second places what is left one by one, the most utility for a core first, each where it is done
// soonest behind what has been placed: so nothing stays idle that a task is done sooner at than where it would wait.
//
// Departures from [1]:
//
// A task that was chosen to begin at a node is left to the second stage if it is done sooner behind what runs, or was
// chosen to begin, at another: in [1] all clusters are alike but for their processors.
//
// The expected response time of a task is that of its soonest way, under all of its ways: it says for how long a task
// has waited, relative to its length. Taken way by way it would prefer slow nodes, since larger is better; in [1] it is
// the same wherever a task runs on as many processors.
//
// The second stage has no utility of its own: what begins later is not compared with what begins now.
//
// The work is bounded by counts, and what is equal is taken in the order given, so equal input has equal results.
//
// Sources:
//
//	[1] D. C. Vanderster, Resource Allocation and Scheduling Strategies using Utility and the Knapsack Problem on
//	    Computational Grids, PhD thesis, University of Victoria, 2008.
package allocator
