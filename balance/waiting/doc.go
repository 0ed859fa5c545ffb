// Package waiting estimates how long a new task would wait at a site whose work goes first in, first out, ranks sites
// by it, and says how much may wait at a site [1, sections 3.2 and 3.3].
//
// Sources:
//
//	[1] D. C. Vanderster, Resource Allocation and Scheduling Strategies using Utility and the Knapsack Problem on
//	    Computational Grids, PhD thesis, University of Victoria, 2008.
package waiting
