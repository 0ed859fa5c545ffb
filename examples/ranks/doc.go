// Package ranks connects the processes of a parallel program over plain TCP, by the variables that Skep gives them. It
// is part of the examples and knows nothing else of Skep: whatever sets RANK, WORLD_SIZE and SKEP_PEERS can start them.
//
// Sources:
//
//	[1] H. J. Dail, A Modular Framework for Adaptive Scheduling in Grid Application Development Environments, MSc thesis,
//	    University of California, San Diego, 2002: section IV.A, the two applications and their communication
package ranks
