// Package order says which of the work that waits in one place goes next.
//
// Work waits in lines, first come, first served: [Lines] puts work of one kind into one line, and picks the line whose
// first goes next. What one kind is, and which line is next, is a row of the table of rules:
//
//	fifo       one line
//	bid        a line for each bid, the highest first
//	prio_fifo  three lines: bids above the usual one, the usual one, and below [1, 6.5.12]
//	sjf        a line for each class, the one of the shortest expected run time first
//	fair       a line for each band of bids, node and user, see below
//
// # Fair
//
// The highest bid goes first; bids that differ by less than a factor of the square root of two may be of one band, and
// are equal then ([Band]). What waits bids more with time: in proportion, from its own bid at first to the highest
// possible one after the ageing time [1, A.2.5] (market.Ageing). Among equal bids it is the turn of the node that has
// used the least of late, and of the user of that node who has. So names of users gain nothing: what they use counts
// for their node. Which node that is says the key: exec.Payer.
//
// Use is in core-seconds, and decays by half in the half-life. Running work counts with what it has used, and with what
// it is expected to use still: slots that become free at the same time go to several nodes.
//
// # Nobody starves
//
// The time that the work of a node in a band waits counts from its last start, or from when the first of it came.
// After the ageing time it bids the highest possible bid, goes before equal bids whatever was used, and of two of them
// the one that has waited longer goes first. So where work of one node in one band waits, one of it starts
//
//	within the ageing time, and one start of each other node and band where work waits then,
//
// however much comes that bids more. The same holds for the users of a node: each U-th of these starts, where work of U
// users waits, is of the one who has waited longest. It is one start at a time, not all that waits: of a flood of one
// node only the next of each band becomes urgent, and a node has 8 bands at most. The n-th work of a line starts within
// n times as long.
//
// The other rules give no such bound, but fifo: there everything goes that came before.
//
// # Bounds
//
// What comes from others cannot make the lines many: there are some 300 at most, of one node 32 (bound.go). What would
// be one more goes with others. So a start takes the time that so many lines take at most, and a restart of n works n
// times as long.
//
// Scores of nodes that have not changed are up to 1/256 of a half-life old.
//
// Sources:
//
//	[1] J. M. Gomoluch, Market Protocols for Computational Clusters and Grids, PhD thesis, City University London,
//	    2004.
package order
