// Command life is the Game of Life on a mesh of N×N cells in strips of rows, one for each rank: an example of a
// parallel program that Skep runs as a gang. Each iteration computes the rank's rows and then exchanges the outer
// ones with its neighbours. It prints the mean time of an iteration and a checksum, which is the same however the
// rows are shared.
//
// Sources:
//
//	[1] H. J. Dail, A Modular Framework for Adaptive Scheduling in Grid Application Development Environments, MSc thesis,
//	    University of California, San Diego, 2002: section IV.A, Game of Life
package main
