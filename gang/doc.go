// Package gang searches for the machines on which tasks that start together and talk to each other run best, and for
// the share of the work that each gets.
//
// The search is decoupled from the application [1, chapter III]: it knows it by a [Mapper], which divides the work
// among a group of machines, and by a [Model], which predicts the time of an iteration. Machines that are near each
// other form sites; the search goes through unions of sites, and in each through the k best machines by computation,
// by memory and by both, for every k. Of the groups of one union and order it takes the smallest that is within a
// threshold of the best, and of these the fastest.
//
// # What is not in [1]
//
// Sites come from measured delays by single link, not from domain names. Unions are all of up to [MaxSites] sites; of
// more sites those with most computation are united so, and the others are added one by one (agglomerate.go). Where a
// model is a [Bounder], groups whose bound says that they cannot be chosen are counted and not mapped: the result is
// the same. A group is a set: found twice, it is mapped once, with its machines in one order.
//
// A machine with several free slots has as many places, and each rank takes one: a place has the speed of one slot and
// an equal part of the memory, and ranks on one machine exchange messages for nothing. [1] has one place a machine.
//
// The comparison of schedules where nothing but memory is modelled is lost in the copy of [1] that was read
// (Fig. III.4). The one here (compare.go) is a reconstruction that agrees with the results of [1, section V.D].
//
// Sources:
//
//	[1] H. J. Dail, A Modular Framework for Adaptive Scheduling in Grid Application Development Environments, MSc
//	    thesis, University of California, San Diego, 2002.
package gang
