// Package mesh simulates parallel mesh programs: ranks on hosts that others use too, which exchange messages over
// links that messages share. [World.Run] is one run in a world whose loads are known beforehand; [Live] is a number of
// programs that begin, are stopped and share hosts and links as its owner says.
//
// A rank is a list of operations that it repeats in every iteration: compute, send, wait for a message, wait until
// what it sent has left. Game of Life exchanges a row with each neighbour; Jacobi has a broadcast from every rank by a
// binomial tree [1, section IV.A]. A host computes at its speed times what its load leaves, a step function of time,
// so that the end of a piece of work is exact. A message is a flow of bytes: of each port, cable or wide-area link on
// its way it has an equal part with the other flows there, and the least of these parts is its rate. The sender is
// busy until the last byte has left; the receiver has it a latency later. Four iterations are not measured, 100 are;
// the iteration time of a run is the largest mean of any rank [1, section V.A.4].
//
// Sources:
//
//	[1] H. J. Dail, A Modular Framework for Adaptive Scheduling in Grid Application Development Environments, MSc
//	    thesis, University of California, San Diego, 2002.
//	[2] M. Allman, V. Paxson, W. Stevens, TCP Congestion Control, RFC 2581, 1999.
package mesh
