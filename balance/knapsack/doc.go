// Package knapsack chooses for each of many items at most one of its options, so that their utilities add up to as much
// as possible and their demands fit into the capacities: the multiple-choice multidimensional knapsack problem, as [1]
// uses it to place tasks on clusters.
//
// A [Solver] works in three stages. A greedy pass takes options by utility over priced demand, then changes items to
// better options and fills what is left [1, section 4.3; 2]. Lagrange multipliers are prices of the capacities: where
// each item takes what is best for it at these prices, the utilities add up to an upper bound of every solution, and
// the prices that make the bound least tell a further greedy pass what is scarce [3]. Where the problem is small, a
// depth-first search over what the bound has not excluded finds the optimum and proves it.
//
// Every [Result] has its bound, and so a stated gap: the optimum is nowhere above it. All stages are bounded by counts,
// never by a clock, and break ties by the order of items and options, so the same problem always has the same result.
//
// Sources:
//
//	[1] D. C. Vanderster, Resource Allocation and Scheduling Strategies using Utility and the Knapsack Problem on
//	    Computational Grids, PhD thesis, University of Victoria, 2008: chapters 4 and 6.
//	[2] R. Parra-Hernandez, N. J. Dimopoulos, A New Heuristic for Solving the Multichoice Multidimensional Knapsack
//	    Problem, IEEE Transactions on Systems, Man and Cybernetics A 35(5), 2005. [1] solves its problems by it.
//	[3] M. L. Fisher, The Lagrangian Relaxation Method for Solving Integer Programming Problems, Management Science
//	    27(1), 1981.
package knapsack
