// Package model predicts what an iteration of a parallel program takes on given machines, and what memory it needs.
//
// A mesh of n×n points is divided into strips of rows, one for each rank. A rank at a place of speed v with n_i rows
// takes
//
//	time_i = point_cost·n_i·n/v + comm_i,   time = max_i time_i        [1, IV.5 to IV.7]
//
// seconds an iteration, and n_i·n·point_memory bytes, of which it wants a margin more [1, IV.4]. Two applications are
// known: life exchanges border rows with both neighbours, jacobi broadcasts all of its unknowns from every rank. A
// table of measurements stands for any other program. Waiting for each other is not modelled: for exchanges between
// neighbours the slowest rank sets the pace exactly; broadcasts make longer chains than the formula has.
//
// Sources:
//
//	[1] H. J. Dail, A Modular Framework for Adaptive Scheduling in Grid Application Development Environments, MSc
//	    thesis, University of California, San Diego, 2002: section IV.B.
package model
