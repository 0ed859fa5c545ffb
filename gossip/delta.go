package gossip

import (
	"math"
	"slices"
	"time"

	"skep/grid"
)

// Arrival rates below minAlpha tasks per second, or below minShare of the ad's highest, are not worth a message
// whatever their relative change: otherwise decaying counts would be news for ever.
const (
	minAlpha = 1e-3
	minShare = 0.1
)

// A price moves with all that a node runs, and so does the lowest bid that may be suspended: at the default threshold
// of 0.1 it is news when it has changed by a quarter. Prices below minPrice, half of the usual bid, count as that: what
// they differ by keeps few tasks away.
const (
	priceWeight = 0.4
	minPrice    = float64(grid.UsualBid) / 2
)

// Delta says how much two ads of one node differ, 0 to 1: the largest of the differences of
//
//	free cores and free memory, as shares of the capacity; availability
//	backlog, as b/(b + scale); so is the wait for a unit of each counted resource
//	speed of a task of a core and the usual bid, where tasks share the cores
//	free units of each counted resource, as shares of the capacity
//	speed and rates, relative to the larger; a rate measured for the first time counts 1
//	the reserve price, and the lowest bid that may be suspended, relative to the larger, times priceWeight
//	everything else that is said (labels, engines, capacity, draining …): 1 if it differs at all
func Delta(a, b *grid.Ad, scale time.Duration) float64 {
	if a == b {
		return 0
	}
	if a.Draining != b.Draining || a.Leaving != b.Leaving || a.Full != b.Full || a.Away != b.Away ||
		a.Capacity != b.Capacity || a.Name != b.Name || !a.Accept.Equal(b.Accept) || a.Hour != b.Hour ||
		!same(a.Labels, b.Labels) || !same(a.Engines, b.Engines) || !same(a.Addrs, b.Addrs) {
		return 1
	}
	d := math.Abs(a.Availability - b.Availability)
	d = max(d, share(int64(a.Free.CPU), int64(b.Free.CPU), int64(a.Capacity.CPU)))
	d = max(d, share(int64(a.Free.Memory), int64(b.Free.Memory), int64(a.Capacity.Memory)))
	d = max(d, math.Abs(squash(a.Backlog, scale)-squash(b.Backlog, scale)))
	if a.Capacity.Counts != "" {
		d = max(d, countsDelta(a, b, scale))
	}
	if a.Sharing != b.Sharing {
		d = max(d, sharingDelta(a, b))
	}
	d = max(d, relative(a.Speed, b.Speed, 0))
	d = max(d, priceWeight*relative(float64(a.Price), float64(b.Price), minPrice))
	d = max(d, priceWeight*relative(float64(a.Outbid), float64(b.Outbid), minPrice))
	if d < 1 && !same(a.Rates, b.Rates) {
		d = max(d, ratesDelta(a.Rates, b.Rates))
	}
	return min(d, 1)
}

// same compares slices; slices that share their memory, as those of a refreshed ad, are not compared element by
// element.
func same[T comparable](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	return len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b)
}

func share(a, b, of int64) float64 {
	if a == b {
		return 0
	}
	if of <= 0 {
		return 1
	}
	return math.Abs(float64(a-b)) / float64(of)
}

// countsDelta is the difference in the counted resources of two ads of equal capacity.
func countsDelta(a, b *grid.Ad, scale time.Duration) (d float64) {
	if a.Free.Counts == b.Free.Counts && a.Waits == b.Waits {
		return 0
	}
	wait := func(ad *grid.Ad, kind string) float64 {
		return squash(time.Duration(ad.Waits.Of(kind))*time.Second, scale)
	}
	for kind, n := range a.Capacity.Counts.All() {
		d = max(d, share(a.Free.Counts.Of(kind), b.Free.Counts.Of(kind), n), math.Abs(wait(a, kind)-wait(b, kind)))
	}
	return d
}

// sharingDelta is the difference in the speeds that two ads of equal capacity promise.
func sharingDelta(a, b *grid.Ad) float64 {
	if a.Sharing.Least != b.Sharing.Least {
		return 1
	}
	speed := func(ad *grid.Ad) float64 {
		return ad.Sharing.SpeedOf(grid.UsualBid, grid.CPU, ad.Free.CPU, ad.Capacity.CPU.Cores())
	}
	return math.Abs(speed(a) - speed(b))
}

func squash(b, scale time.Duration) float64 { return float64(b) / (float64(b) + float64(scale)) }

// relative is |a − b| over the larger of them and floor.
func relative(a, b, floor float64) float64 {
	if a == b {
		return 0
	}
	return math.Abs(a-b) / max(a, b, floor)
}

// ratesDelta compares two lists sorted by class. A remote list may be unsorted: then more counts as changed.
func ratesDelta(a, b []grid.Rate) float64 {
	floor := minAlpha
	for _, r := range [...][]grid.Rate{a, b} {
		for i := range r {
			floor = max(floor, minShare*r[i].Alpha)
		}
	}
	d := 0.0
	for len(a) > 0 || len(b) > 0 {
		var x, y grid.Rate
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Class < b[0].Class:
			x, a = a[0], a[1:]
		case len(a) == 0 || b[0].Class < a[0].Class:
			y, b = b[0], b[1:]
		default:
			x, y, a, b = a[0], b[0], a[1:], b[1:]
		}
		d = max(d, relative(x.Alpha, y.Alpha, floor), relative(x.Mu, y.Mu, 0))
	}
	return d
}
