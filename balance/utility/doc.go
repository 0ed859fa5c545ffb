// Package utility says how good it would be to run a task in one of several ways: a number for each option, out of
// metrics, normalisers and weights that are named in a configuration [1, sections 4.2, 4.4, 5.2, 6.3].
//
// A [Function] is data. Each of its terms is a metric, or the sum of several, normalised and weighted; terms are added,
// averaged [1, equation 4.1] or multiplied, and what comes out may be normalised again. The functions of [1] have names
// ([Preset]): its policies 1 to 5, those of its sensitivity study, and those that know of data transfers.
//
// A normaliser may need the largest value of its metric among all options that are compared, so a [Cycle] sees them all
// before it values one. All metrics are better where they are larger. What is not known is 0 in [Facts], and is neither
// good nor bad in comparison where it is so of all options.
//
// The package has no state beside a cycle's, no clock and no chance. What it is given by strangers may be anything: a
// utility is never below 0, infinite or no number.
//
// Sources:
//
//	[1] D. C. Vanderster, Resource Allocation and Scheduling Strategies using Utility and the Knapsack Problem on
//	    Computational Grids, PhD thesis, University of Victoria, 2008.
package utility
