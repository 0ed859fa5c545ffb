// Package contract holds a gang to the time of an iteration that was predicted when its nodes were chosen, and decides
// whether it moves to a better schedule.
//
// The contract of an attempt is the predicted time of an iteration, longer by a tolerated part ([grid.Contract]). What
// a rank says of its progress tells how long iterations take ([1] names contract, monitor and rescheduler, and builds
// none; the rules are ours). When so many in a row take longer, [Contract.Note] says so, and [Contract.Weigh] searches
// again with what is known of the nodes now, what the gang holds counted as free. The gang moves where what that saves
// is more than what the restart from its newest checkpoint costs. DESIGN.md has the arithmetic and its reasons.
//
// The coordinator carries a move out. It is one like a restart after a loss, but counts as none.
//
// Sources:
//
//	[1] H. J. Dail, A Modular Framework for Adaptive Scheduling in Grid Application Development Environments, MSc thesis,
//	    University of California, San Diego, 2002: chapter II
package contract
