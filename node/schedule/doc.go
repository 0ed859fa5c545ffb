// Package schedule chooses the workers of a gang by a search for the machines on which its ranks run best, and divides
// the work among the ranks. It makes the machines and links of package gang from what a node knows of others, and
// draws randomness from nothing: the same nodes give the same choice.
//
// A node's speed is that of one core by its calibration and what other users leave of it by its last ad, times
// [ReferenceWork]. The latency between two nodes is half
// the distance of their network coordinates; where one has none it is half of each one's round trip from the owner.
// The bandwidth of a link is what transfers between the owner and its nodes have achieved, if one of them is in the
// owner's site; other links, and those without a transfer, have [SiteBandwidth] within a site and [FarBandwidth]
// between sites.
package schedule
