// Package gossip keeps a node's neighbours, spreads what it says about itself, and holds what it knows of
// others.
//
// A node describes itself in an ad. Ads travel in digests from neighbour to neighbour; each node that hears
// one for the first time asks its dissemination rule, once for each ad, whether to hand it on. The rules
// make news of near nodes frequent and exact and news of far ones rare and coarse, so that the cost for
// each node does not grow with the grid. What is known of others is a view of bounded size. Who is handed
// news is decided here too: the neighbour set, half of it near by round-trip time and half of it chance,
// which request forwarding uses as well.
//
// The package is pure: events and the time go in, messages, timers and links come out.
//
// Sources, cited by number:
//
//	[1] A. Iamnitchi, I. Foster, On fully decentralized resource discovery in grid environments,
//	    GRID 2001, LNCS 2242.
//	[2] S. Tilak, A. Murphy, W. Heinzelman, Non-uniform information dissemination for sensor
//	    networks, ICNP 2003: the idea of the probabilistic and change-sensitive rules.
//	[3] V. Iyengar, S. Tilak, M. J. Lewis, N. B. Abu-Ghazaleh, Non-uniform information dissemination
//	    for dynamic grid resource discovery, NCA 2004.
//	[4] J. Leitão, J. Pereira, L. Rodrigues, HyParView: a membership protocol for reliable
//	    gossip-based broadcast, DSN 2007: neighbour sets that are kept mutual.
//	[5] M. Maheswaran, Data dissemination approaches for performance discovery in grid computing
//	    systems, IPDPS 2001: universal, neighbourhood and distinctive awareness, grid potential.
//	[6] F. Dabek, R. Cox, F. Kaashoek, R. Morris, Vivaldi: a decentralized network coordinate
//	    system, SIGCOMM 2004.
//	[7] J. Leitão, J. Pereira, L. Rodrigues, Epidemic broadcast trees, SRDS 2007.
package gossip
