package reputation

import (
	"math"
	"time"

	"skep/grid"
)

// Arrival rates that other nodes state weigh in the allocation like real ones, and cost nothing to state. They are
// believed as far as work was seen, taking what this node receives as a sample of what they give to all, or if the
// rate is so small that they could execute it themselves.

// maxUnseenCores is the number of its own cores for which a node's stated arrivals are believed unseen.
const maxUnseenCores = 8

// Received is the work that a peer has given this node, core-seconds, decayed with the time constant of the arrival
// rates.
type Received struct {
	work float64
	at   grid.Time
}

// decay returns the factor by which the work has decayed.
func (r *Received) decay(now grid.Time, memory time.Duration) float64 {
	return math.Exp(-now.Sub(r.at).Seconds() / memory.Seconds())
}

// Add adds an attempt's work, core-seconds; memory is the time constant.
func (r *Received) Add(now grid.Time, memory time.Duration, work float64) {
	r.work = r.work*r.decay(now, memory) + work
	r.at = now
}

// TrustedShare is the share of a peer's stated arrivals that is believed. With r_i the typical execution rate of a
// class on one core,
//
//	stated = Σ_i α_i / r_i                cores that the arrivals would occupy
//	borne   = max(own, peers·received/τ)   cores that are plausible
//
// where own is the peer's own cores, at most maxUnseenCores, and received/τ is the work that it gave this node, times
// the number of peers. The caller computes stated.
func (r *Received) TrustedShare(now grid.Time, memory time.Duration,
	stated float64, cores grid.MilliCPU, peers int) float64 {
	own := min(cores, maxUnseenCores*grid.CPU).Cores()
	if stated <= own {
		return 1
	}
	seen := r.work * r.decay(now, memory) / memory.Seconds()
	borne := max(own, float64(peers)*seen)
	if math.IsInf(stated, 0) || math.IsNaN(stated) {
		return 0
	}
	return min(1, borne/stated)
}
