// Package event is the future event list of a discrete-event simulation: a [Ladder] holds events and returns them in
// the order of their times, and those of one time in the order of their sequence numbers. The order is total, so a
// model that draws its chance from a seed takes the same steps in every run.
//
// Sources, cited by number in this package:
//
//	[1] W. T. Tang, R. S. M. Goh, I. L.-J. Thng, Ladder queue: an O(1) priority queue structure for
//	    large-scale discrete event simulation, ACM TOMACS 15(3), 2005.
package event
