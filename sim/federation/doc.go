// Package federation simulates a grid of batch clusters that a broker shares with their own users [1, chapter 3]. Each
// site has one queue, first in, first out. It says now and then, in an advert, what is free, what waits and how long a
// new task would wait; between two adverts the broker knows only what it has itself handed over since. It keeps tasks
// for which no site is admitted.
//
// A task may need a file that stores hold copies of. Stores fail and come back; which bandwidth a site has to each is
// measured now and then.
//
// [1] describes a grid that ran, and prints neither its tasks nor its load: what a run needs beyond its text is a field
// of [System].
//
// Sources:
//
//	[1] D. C. Vanderster, Resource Allocation and Scheduling Strategies using Utility and the Knapsack Problem on
//	    Computational Grids, PhD thesis, University of Victoria, 2008.
package federation
