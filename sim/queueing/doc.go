// Package queueing simulates queueing systems of the theses' kind: classes of tasks that arrive at random,
// machines that run each class at its own rate, and a policy that says which machine gets which task.
//
// The policies are those of package balance, the ones that a node runs: a [balance.Policy] is asked on each
// arrival, at one mapper or at the machine where the task arrived, and told what polls and answers bring;
// a [balance.Pull] is asked by each idle machine; a [balance.Batch] places many tasks at once, at mapping events [5].
// What is modelled here is only the system around them: arrivals, service, failures, availability, rates that change,
// and information that comes at once or late. A run is a function of the system, the policy, the seed and the number
// of the replication; tasks, their sizes and all faults are the same for every policy of a seed, so that differences
// between policies are not those of chance.
//
// Sources:
//
//	[1] I. Al-Azzoni, Linear Programming Based Affinity Scheduling for Heterogeneous Computing
//	    Systems, PhD thesis, McMaster University, 2009.
//	[2] J. D. C. Little, A Proof for the Queuing Formula L = λW, Operations Research 9(3), 1961.
//	[3] A. J. Walker, An Efficient Method for Generating Discrete Random Variables with General
//	    Distributions, ACM Transactions on Mathematical Software 3(3), 1977.
//	[4] L. Kleinrock, Queueing Systems, Volume 1: Theory, Wiley, 1975.
//	[5] M. Maheswaran, S. Ali, H. J. Siegel, D. Hensgen, R. F. Freund, Dynamic Mapping of a Class of
//	    Independent Tasks onto Heterogeneous Computing Systems, Journal of Parallel and Distributed
//	    Computing 59, 1999.
package queueing
