// Package screen finds out of many parameters those that matter, with few runs: designs of Plackett and Burman, folded
// over [1; 2, section 5.3].
//
// With N parameters a design has X runs, X a multiple of 4 above N; each parameter is high in half of them, and any two
// are both high in a quarter. The same runs with all levels exchanged make the main effects free of what two parameters
// do together. What three do together, and what peaks between two levels, is not seen.
//
// Sources:
//
//	[1] R. L. Plackett, J. P. Burman, The Design of Optimum Multifactorial Experiments, Biometrika 33(4), 1946.
//	[2] D. C. Vanderster, Resource Allocation and Scheduling Strategies using Utility and the Knapsack Problem on
//	    Computational Grids, PhD thesis, University of Victoria, 2008.
package screen
