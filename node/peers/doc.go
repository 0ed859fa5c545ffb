// Package peers is what a node knows of the others, and what it expects of them.
//
// It joins what comes from four sources: the connections, the view of package gossip, the rates that peers tell or
// advertise, and what this node has itself seen of them (package reputation) and measured (package rates). From these
// it answers two questions of the coordinator: which nodes may be offered a task, and when would each be done with it.
// This node is one of them: what it would answer itself follows from its ledger (package exec). The same knowledge is
// the input of the placement policies: a column of the allocation LP for each node.
//
// Sources:
//
//	[1] I. Al-Azzoni, Linear Programming Based Affinity Scheduling for Heterogeneous Computing
//	    Systems, PhD thesis, McMaster University, 2009: chapter 4, decentralised LPAS and mutual
//	    information feedback.
//	[2] D. C. Vanderster, Resource Allocation and Scheduling Strategies using Utility and the Knapsack
//	    Problem on Computational Grids, PhD thesis, University of Victoria, 2008: chapter 3, datarank.
package peers
