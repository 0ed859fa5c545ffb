// Package advice recommends market protocols for a system, by the guidelines of a thesis: four tables whose rows each
// name the conditions of an experiment and the protocols that did best in it ([Tables]).
//
// A system is described in the words of these tables ([Features]), which [Measured] finds from numbers. Where
// something is not known, every word fits. [For] returns the rows of which the fewest conditions are not met, and says
// which those are: the tables have 46 rows and far more combinations, so that most systems lie between rows.
// [Settings] are what a node needs to do as a protocol does, as far as nodes can.
//
// The guidelines hold for stationary load, and leave out what matching, suspending and moving cost [1, section 13.5].
//
// Sources:
//
//	[1] J. M. Gomoluch, Market Protocols for Computational Clusters and Grids, PhD thesis, City University London,
//	    2004: chapter 13, figures 63 to 66.
package advice
