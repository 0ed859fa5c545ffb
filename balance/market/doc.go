// Package market matches tasks that bid with servers that sell their time: the order book of a computational market.
//
// A [Market] holds the offers of servers and the queries of tasks that wait. A query is matched on its arrival, an
// offer on its update, or both at ticks; who is matched with whom follows a [Protocol], which is data: which offers are
// candidates, at which speed a task would run there, which candidate is taken, who of those that wait goes first, and
// what a match leaves in the offer. So the thirteen protocols of [1] are thirteen rows, and [2] is a further row.
//
// A bid is a price for a unit of work, not money: nothing is paid. It says how urgent a task is among people who
// trust each other. A server may refuse bids below its reserve price, which follows from what it has sold ([Revenue]).
// What waits may bid more with time ([Ageing]), so that nothing waits for ever, and a task of which the value falls
// bids what it is still worth ([Value]).
//
// Work is in units of which the reference server does one in a unit of time. The package knows neither clock nor
// network: times are arguments, on any clock that does not go back.
//
// Sources:
//
//	[1] J. M. Gomoluch, Market Protocols for Computational Clusters and Grids, PhD thesis, City University London,
//	    2004: chapter 6 (model and protocols), chapter 9 (reserve prices), appendix A (algorithms).
//	[2] R. Buyya, D. Abramson, J. Giddy, Nimrod/G: An Architecture for a Resource Management and Scheduling System in a
//	    Global Computational Grid, HPC Asia 2000: cheapest within a deadline and a budget (the row cheapest).
package market
