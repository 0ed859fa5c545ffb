// Command jacobi solves N linear equations a·x = b by the method of Jacobi, with rows of a for each rank: an example
// of a parallel program that Skep runs as a gang. Each iteration computes the rank's part of x, and then each rank
// broadcasts its part to all others. It prints the mean time of an iteration, how far the last one moved x, and a
// checksum of x.
//
// Sources:
//
//	[1] H. J. Dail, A Modular Framework for Adaptive Scheduling in Grid Application Development Environments, MSc thesis,
//	    University of California, San Diego, 2002: section IV.A, Jacobi; equations IV.1 and IV.2
package main
