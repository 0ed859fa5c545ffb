// Package discovery finds nodes that can meet a task's needs: it matches needs to ads, and it sends a search
// through the overlay when nobody known fits.
//
// A search is a walk. One message goes from neighbour to neighbour; each node that it comes to looks at
// itself and at whom it knows, and answers the asker directly if that is a find; otherwise the walk goes on,
// in exactly one copy, until its hops are used up. Where it goes next is the business of a [Forward]. When all
// walks of a search have failed, an announcement asks everybody, and those who can answer do so after a random
// delay. Nodes need no directory for this and keep nothing but which searches they have seen.
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
