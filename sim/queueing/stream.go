package queueing

import "skep/grid"

// The streams of a replication's randomness.
const (
	streamArrivals = iota
	streamOrigins
	streamSizes
	streamFaults
	streamAgain
	streamChanges
	streamErrors
	streamOrder
	streamPolicies
)

// stream returns a stream of a replication; those of its policies are numbered on from streamPolicies.
func stream(seed uint64, replication, k int) *grid.Rand {
	return grid.NewRand(seed, uint64(replication)<<32|uint64(k))
}
