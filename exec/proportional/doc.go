// Package proportional divides the cores of a machine among tasks that all run at once, by their bids: protocol PSP
// of [1].
//
// There a task of bid p gets the part p/Σp of a machine, whatever it can use. Here tasks need different numbers of
// cores, and none can use more than it needs. A task that needs n cores counts as n tasks of one core with its bid, and
// what a task cannot use the others share likewise, as the scheduler of a kernel does it: with a bid b each runs at the
// part
//
//	speed = min(1, λ·b)    of its full speed, where    Σ n·min(1, λ·b) = cores
//
// so λ, the level, is all that has to be known, and the lowest bid runs at the lowest speed. [1] lets a task refuse a
// machine where it would be too slow (minExecutionSpeed); here the machine promises a least speed S to all, whatever
// they bid. Hence a task takes at most 1/S times as long as alone under however many higher bids, and a low bid alone
// on a core keeps off it each that is more than 1/S − 1 times as high, until it ends. A promise to those that come
// alone, as in [1], would let high bids in at once, but bound the slowness of a task of bid b by the highest bid B
// only, to S·b/B.
//
//	[1] J. M. Gomoluch, Market Protocols for Computational Clusters and Grids, PhD thesis, City University London,
//	    2004, sections 6.5.4 and A.1.
package proportional
