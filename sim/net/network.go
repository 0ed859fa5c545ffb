package net

import (
	"math"
	"time"

	"skep/grid"
	"skep/sim"
)

// Network is the transport of messages. Times are one way.
type Network struct {
	Latency Span // of every message; a plane or matrix adds to it

	// Plane, if not zero, is the latency along the side of a square in which the nodes are placed at random [3].
	Plane time.Duration

	// Matrix, if not nil, is the latency from row to column, of groups or of nodes.
	Matrix [][]time.Duration

	// Port is how many bytes a second of ranks' messages a node sends, and as many it receives, Uplink so of a site: what
	// is sent at a time shares it. 0 = what nodes take it for: schedule.SiteBandwidth, schedule.FarBandwidth.
	Port, Uplink grid.Bytes

	// World is the rest: loss, duplication, reordering, bandwidth, times, known peers.
	World sim.Network
}

// latency returns the world's latency function.
func (s *Scenario) latency(seed uint64) sim.Latency {
	n := &s.Network
	var far func(i, j int) time.Duration
	switch {
	case n.Plane > 0:
		x, y := make([]float32, s.nodes()), make([]float32, s.nodes())
		r := grid.NewRand(seed, streamPositions)
		for i := range x {
			x[i], y[i] = r.Float32(), r.Float32()
		}
		side := float64(n.Plane)
		far = func(i, j int) time.Duration {
			return time.Duration(side * math.Hypot(float64(x[i]-x[j]), float64(y[i]-y[j])))
		}
	case n.Matrix != nil && len(n.Matrix) == s.nodes():
		far = func(i, j int) time.Duration { return n.Matrix[i][j] }
	case n.Matrix != nil:
		bounds := s.bounds()
		group := make([]int32, s.nodes())
		for i := range group {
			group[i] = int32(groupOf(bounds, i))
		}
		far = func(i, j int) time.Duration { return n.Matrix[group[i]][group[j]] }
	}
	if far == nil {
		return func(_, _ int, r *grid.Rand) time.Duration { return n.Latency.draw(r) }
	}
	return func(i, j int, r *grid.Rand) time.Duration { return far(i, j) + n.Latency.draw(r) }
}

// Random streams of a run, apart from those of the world.
const (
	streamPositions = 101 + iota
	streamSessions
	streamFaults
	streamSamples
	streamArrivals // and the following ones, one for each stream of the workload
)

// Those of the terms of jobs, one for each stream of the workload, and of loads, one for each node, apart from all
// others.
const (
	streamTerms = 98 + iota
	streamLoads
)
