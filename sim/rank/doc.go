// Package rank scores alternatives that were tried side by side: strategies, policies, in several comparisons each
// under the same conditions.
//
// In one comparison each alternative has a figure of which less is better. Its rank is 1 where it is best; its
// degradation from the best is 100·(x − best)/best percent [1, section V.D.1]. Scores are means over comparisons, with
// the half-widths of their 95 % intervals by Student's t. Both are of pairs: what differs from one comparison to the
// next and is the same for all alternatives does not widen the intervals of ranks.
//
// Sources:
//
//	[1] H. J. Dail, A Modular Framework for Adaptive Scheduling in Grid Application Development Environments, MSc
//	    thesis, University of California, San Diego, 2002.
package rank
