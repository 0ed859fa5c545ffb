package throughput

import (
	"math"
	"sync"
	"time"

	"skep/grid"
)

// Assumed is the bandwidth of a peer from which nothing has come lately, bytes a second: 100 Mbit/s.
const Assumed = 12.5e6

const (
	mostRates = 1024             // peers remembered; the one from which nothing has come for the longest time goes first
	memory    = 10 * time.Minute // in which what came falls to 1/e of its weight: what other users leave changes
)

// Rates are what transfers from peers have achieved: the table by which a file is fetched from where it comes soonest.
// Their zero value is ready, and their methods may be called at the same time.
type Rates struct {
	mu    sync.Mutex
	known map[grid.NodeID]seen
}

// seen is of the transfers from a peer, weighted, at the time of the newest.
type seen struct {
	bytes, seconds float64
	newest         time.Time
}

// Note records a transfer that has ended now.
func (r *Rates) Note(from grid.NodeID, t grid.Transfer, now time.Time) {
	if t.Bytes <= 0 || t.Took <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[grid.NodeID]seen{}
	}
	s, known := r.known[from]
	if !known && len(r.known) == mostRates {
		r.forgetOldest()
	}
	w := s.weight(now)
	r.known[from] = seen{s.bytes*w + float64(t.Bytes), s.seconds*w + t.Took.Seconds(), now}
}

// Of is the bandwidth that a peer is expected to have, bytes a second: what it had, and the longer ago the nearer to
// Assumed.
func (r *Rates) Of(from grid.NodeID, now time.Time) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, known := r.known[from]
	if !known {
		return Assumed
	}
	return Assumed + s.weight(now)*(s.bytes/s.seconds-Assumed)
}

func (s *seen) weight(now time.Time) float64 {
	return math.Exp(-max(now.Sub(s.newest), 0).Seconds() / memory.Seconds())
}

func (r *Rates) forgetOldest() {
	var oldest grid.NodeID
	var at time.Time
	for id, s := range r.known {
		if oldest.IsZero() || s.newest.Before(at) {
			oldest, at = id, s.newest
		}
	}
	delete(r.known, oldest)
}
