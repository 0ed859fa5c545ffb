package grid

import "math/rand/v2"

// Rand is the only source of randomness inside a node: a PCG seeded by the driver, so that the same seed and events
// always give the same run. Streams of one seed are independent of each other.
type Rand struct{ *rand.Rand }

// NewRand returns the given stream of a seed.
func NewRand(seed, stream uint64) *Rand { return &Rand{rand.New(rand.NewPCG(seed, stream))} }
