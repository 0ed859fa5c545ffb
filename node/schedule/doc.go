// Package schedule chooses the workers of a gang by a search for the machines on which its ranks run best, and divides
// the work among the ranks. It makes the machines and links of package gang from what a node knows of others, and
// draws randomness from nothing: the same nodes give the same choice.
//
// A node's speed is that of one core by its calibration and what other users leave of it by its last ad, times
// [ReferenceWork]. The latency between two nodes is half
// the distance of their network coordinates; where one has none it is half of each one's round trip from the owner.
// Bandwidths are not measured between all pairs: links within a site have [SiteBandwidth], those between sites
// [FarBandwidth].
package schedule
