// Package gangs repeats the experiments of [1, chapter V] in simulation: how well iteration times are predicted (e1),
// what shares that fit the machines are worth (e2), how four strategies of choosing machines compare (e3), and what it
// takes to collect what they need to know (e4).
//
// The machines are those of [1, Table V.1]. What [1] does not print is a [Setting]: load, bandwidths, free memory and
// failures, which are drawn anew for each repetition. Strategies see the testbed by measurements alone, as they would
// by a monitor: samples of availability every 10 s with noise, probes of bandwidth every 5 minutes, and forecasts of
// both.
//
// Sources:
//
//	[1] H. J. Dail, A Modular Framework for Adaptive Scheduling in Grid Application Development Environments, MSc
//	    thesis, University of California, San Diego, 2002.
//	[2] M. Allman, V. Paxson, W. Stevens, TCP Congestion Control, RFC 2581, 1999.
package gangs
