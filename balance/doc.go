// Package balance holds the placement policies: given a task and the nodes that could take it, which of
// them are asked and which of them gets it.
//
// Each node is a decider with one instance of a [Policy]. A decision has two halves, so that nothing here
// waits: Poll names the nodes whose state must be fresh, and Choose picks among the answers. Between them
// the policy is told what became known (Note): rates, placements, refusals, nodes that went. A policy is
// pure: time is an argument, chance comes from the source it was made with, and the same calls give the
// same decisions.
//
// The default, lpas_dec, is the decentralised policy of [1, section 4.2]: a node solves the allocation
// LP over the arrival and execution rates that it knows, and asks only the machines which have a share of
// the task's class; it sends the task to the one that expects to finish it first. The rates travel with
// the polls and their answers, so both ends learn of each other and no other state traffic is needed.
//
// A [Pull] decides the other way round: an idle machine takes from the queues of the classes.
//
// What the theses take for granted and a network denies (answers are a round trip old, a burst is decided
// before its first task arrives anywhere, a machine asked may be gone) is dealt with in shared pieces:
// debits, the draw among near-ties, the soonest nodes as known without a message. With the zero [Config]
// all of them are off and the policies are those of [1] to the letter; [Node] is what a real node uses.
//
// Sources:
//
//	[1] I. Al-Azzoni, Linear Programming Based Affinity Scheduling for Heterogeneous Computing
//	    Systems, PhD thesis, McMaster University, 2009.
//	[2] M. Maheswaran, S. Ali, H. J. Siegel, D. Hensgen, R. F. Freund, Dynamic Mapping of a Class of
//	    Independent Tasks onto Heterogeneous Computing Systems, Journal of Parallel and Distributed
//	    Computing 59, 1999. (OLB, switching)
//	[3] M. Mitzenmacher, The Power of Two Choices in Randomized Load Balancing, IEEE Transactions on
//	    Parallel and Distributed Systems 12(10), 2001.
//	[4] The thesis on discovering resources and on class based dynamic matching on a computing grid; its text names
//	    neither author nor year. (class based policies; section 2.2: workqueue, batch mode, replication)
//	[5] N. Fujimoto, K. Hagihara, Near-Optimal Dynamic Task Scheduling of Independent Coarse-Grained Tasks onto a
//	    Computational Grid, International Conference on Parallel Processing 2003. (round robin with replication, as [4]
//	    quotes it)
package balance
