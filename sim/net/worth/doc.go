// Package worth is about what results are worth to those who submit jobs: what jobs bid and until when they want their
// results ([Terms]), drawn for each job of a class, and what became of that ([Tally]), by band of bid and by user.
//
// Sources, cited by number in this package:
//
//	[1] J. M. Gomoluch, Market protocols for computational clusters and Grids, PhD thesis, City University London, 2004,
//	    sections 2.6, 7.1.2 and 10.
package worth
