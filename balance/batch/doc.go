// Package batch holds the batch mode heuristics: which of many waiting tasks goes to which node, by a table of expected
// times.
//
// The tasks that wait are the meta-task of a mapping event; tasks that are alike form a [Kind]. As long as there are
// tasks, [Mapper.Map] computes for each kind the node that would complete a task of it first, takes a task of the kind
// that the [Rule] names, and counts it at that node. A heuristic is a Rule: one file each. With
//
//	r_j     time from now on until node j starts a further task, seconds
//	e_ij    execution time of a task of kind i on node j, seconds; +Inf if it cannot run there
//	c_ij = r_j + e_ij
//	C_i = min_j c_ij,  D_i = the second least c_ij
//
// a rule weighs C_i, D_i, the number of nodes that can run the kind, its size, and the age of its oldest task.
//
// Tasks that bid more than others are placed first, as if those were not there; the rule is for tasks of the same bid.
// The first task of a kind bids more with time (Kind.Aged), so that no flood of higher bids keeps it waiting for ever.
//
// All of [1] take r_j of machines that run one task after the other. A node with s slots of which some are idle starts
// as many at once, and then one each time 1/s of the work that it was given is done.
//
// Sources:
//
//	[1] M. Maheswaran, S. Ali, H. J. Siegel, D. Hensgen, R. F. Freund, Dynamic Mapping of a Class of Independent Tasks
//	    onto Heterogeneous Computing Systems, Journal of Parallel and Distributed Computing 59, 1999: section 3.2.
//	    (mapping events, min-min, max-min, sufferage, ageing)
//	[2] X. He, X. Sun, G. von Laszewski, QoS Guided Min-Min Heuristic for Grid Task Scheduling, Journal of Computer
//	    Science and Technology 18(4), 2003.
//	[3] D. Paranhos da Silva, W. Cirne, F. Brasileiro, Trading Cycles for Information: Using Replication to Schedule
//	    Bag-of-Tasks Applications on Computational Grids, Euro-Par 2003. (DFPLTF)
//	[4] H. Casanova, A. Legrand, D. Zagorodnov, F. Berman, Heuristics for Scheduling Parameter Sweep Applications in
//	    Grid Environments, Heterogeneous Computing Workshop 2000. (XSufferage)
//
// [1] to [4] were read as sections 2.2 and 10 of the notes on matching and discovery quote them.
package batch
