// Package discovery finds nodes that can meet a task's needs: it matches needs to ads, and it searches the overlay
// when no known node fits.
//
// A search is a walk: one message that goes from neighbour to neighbour. Each node that it reaches checks itself and
// the nodes that it knows, and answers the asker directly with a find; otherwise it forwards the walk, in exactly one
// copy, until its hops are used up. A [Forward] picks the next node. When all walks of a search have failed, an
// announcement calls all nodes, and those that meet the needs answer after a random delay. Nodes need no directory for
// this and store only which searches they have seen.
//
// The package is pure: events and the time go in, messages and timers come out.
//
// Sources, cited by number:
//
//	[1] A. Iamnitchi, I. Foster, On fully decentralized resource discovery in grid environments,
//	    GRID 2001, LNCS 2242: request forwarding by random walk, learning and best neighbour.
//	[2] R. Raman, M. Livny, M. Solomon, Matchmaking: distributed resource management for high
//	    throughput computing, HPDC 1998.
//	[3] J. Nonnenmacher, E. W. Biersack, Scalable feedback for large groups, IEEE/ACM Transactions on
//	    Networking 7(3), 1999: exponential timers, so that few of many speak.
package discovery
