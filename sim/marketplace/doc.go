// Package marketplace simulates the system of the market study: clients whose tasks arrive at random and bid, servers
// of different speeds with a background load of their own, and one matcher between them that runs a protocol of
// package balance/market, or as many as there are owners of tasks, each for its own. Messages take no time, or a random
// one.
//
// A run is a function of the system, the protocol, the seed and the number of the replication. Each random variable has
// a stream of its own, so that all protocols of a seed meet the same tasks and the same background load.
//
// Time is in units in which a task of the mean size takes one unit alone on a server of the mean speed.
//
// Sources:
//
//	[1] J. M. Gomoluch, Market Protocols for Computational Clusters and Grids, PhD thesis, City University London,
//	    2004: chapters 6 (model), 7 (parameters and method), 8 to 10 (results), appendix E (parameters).
//	[2] A. M. Law, W. D. Kelton, Simulation Modeling and Analysis, McGraw-Hill, 2000.
package marketplace
