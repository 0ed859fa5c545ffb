package discovery

import (
	"skep/grid"
)

// maxBuckets bounds the peers whose rate is limited individually; beyond it the one silent for longest is forgotten.
const maxBuckets = 256

// bucket is a token bucket of one peer: it fills with Rate up to Burst.
type bucket struct {
	peer   grid.NodeID
	tokens float64
	at     grid.Time
}

// spend takes a token of a peer and reports whether there was one.
func (d *Discovery) spend(now grid.Time, peer grid.NodeID) bool {
	var b *bucket
	oldest := 0
	for i := range d.limits {
		if d.limits[i].peer == peer {
			b = &d.limits[i]
			break
		}
		if d.limits[i].at < d.limits[oldest].at {
			oldest = i
		}
	}
	switch {
	case b != nil:
		b.tokens = min(d.cfg.Burst, b.tokens+d.cfg.Rate*now.Sub(b.at).Seconds())
		b.at = now
	case len(d.limits) < maxBuckets:
		d.limits = append(d.limits, bucket{peer: peer, tokens: d.cfg.Burst, at: now})
		b = &d.limits[len(d.limits)-1]
	default:
		b = &d.limits[oldest]
		*b = bucket{peer: peer, tokens: d.cfg.Burst, at: now}
	}
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
