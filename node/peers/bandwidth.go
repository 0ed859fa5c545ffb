package peers

import (
	"math"
	"time"

	"skep/fifo"
	"skep/grid"
)

// bandwidths is what transfers between this node and others have achieved: by node, the bytes and the time of its
// transfers, each with a weight that decays with its age. So a long transfer counts for more than a short one, and one
// of an hour ago for nothing beside one of now.
type bandwidths struct {
	known fifo.Map[grid.NodeID, throughput]
}

// throughput is of the transfers with a node. Seconds are more than 0.
type throughput struct {
	bytes, seconds float64   // weighted, at the time of the newest
	newest         grid.Time // when it ended
}

const (
	mostBandwidths  = 1024             // nodes remembered; those without a transfer for the longest time go first
	bandwidthMemory = 10 * time.Minute // in which the weight of a transfer falls to 1/e: what other users leave changes
)

// add records a transfer that has ended now.
func (b *bandwidths) add(now grid.Time, id grid.NodeID, size grid.Bytes, took time.Duration) {
	if size <= 0 || took <= 0 {
		return
	}
	x := throughput{}
	if before := b.known.Get(id); before != nil {
		x = *before
		weight := math.Exp(-max(now.Sub(x.newest), 0).Seconds() / bandwidthMemory.Seconds())
		x.bytes, x.seconds = x.bytes*weight, x.seconds*weight
		b.known.Remove(id)
	} else if b.known.Len() == mostBandwidths {
		b.known.RemoveOldest()
	}
	b.known.Add(id, throughput{x.bytes + float64(size), x.seconds + took.Seconds(), now})
}

// of returns what is known of a node: bytes a second, and the age of the newest transfer; 0 = there was none.
func (b *bandwidths) of(now grid.Time, id grid.NodeID) grid.Bandwidth {
	x := b.known.Get(id)
	if x == nil {
		return grid.Bandwidth{}
	}
	return grid.Bandwidth{Rate: x.bytes / x.seconds, Age: now.Sub(x.newest)}
}

// Transferred records a transfer with a node that has ended now.
func (p *Peers) Transferred(now grid.Time, ev *grid.Event) {
	if ev.Peer != p.cfg.Self {
		p.bandwidths.add(now, ev.Peer, ev.Bytes, ev.Took)
	}
}
