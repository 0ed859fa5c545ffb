package reputation

import (
	"math"
	"slices"
	"time"

	"skep/grid"
)

// Hazards are how often nodes lose the attempts that they were given: losses for each second that an attempt is there.
// A rate, and not a share of the attempts, since a long run is lost more often than a short one. All decays with
// hazardHalfLife. The zero value knows nothing.
//
// A node's rate is the mean of a gamma distribution whose prior has the mean of the grid, and weighs as much as one
// loss. The grid's own prior is a loss a day, and weighs as much as an hour without one.
type Hazards struct {
	all   exposure
	nodes []nodeExposure // ordered by identity, at most maxRecords
}

// exposure is how long attempts were at a node, and how many of them were lost.
type exposure struct {
	seconds, lost float64
	at            grid.Time
}

type nodeExposure struct {
	node grid.NodeID
	exposure
}

// Constants of the estimate.
const (
	hazardHalfLife = 6 * 3600.0   // seconds
	priorHazard    = 1 / 86_400.0 // losses a second
	priorExposure  = 3600.0       // seconds
	priorLosses    = 1.0          // by which the grid's rate weighs against a node's own
)

// decayed is the exposure at a time.
func (e exposure) decayed(now grid.Time) exposure {
	w := faded(e.at, now, hazardHalfLife)
	return exposure{e.seconds * w, e.lost * w, max(e.at, now)}
}

func (e *exposure) add(now grid.Time, there time.Duration, lost float64) {
	*e = e.decayed(now)
	e.seconds, e.lost = e.seconds+max(there.Seconds(), 0), e.lost+lost
}

// There counts for how long an attempt was at a node, whatever became of it.
func (h *Hazards) There(now grid.Time, id grid.NodeID, d time.Duration) { h.count(now, id, d, 0) }

// Lost counts a lost attempt, whose time There has counted. One of a node of which no time was counted is left out: it
// is of an earlier start of this node, or of another owner, and nobody knows how long it was there. Where a node is
// lost with all that it has, each attempt counts, as each one's time does.
func (h *Hazards) Lost(now grid.Time, id grid.NodeID) {
	if _, known := h.find(id); known {
		h.count(now, id, 0, 1)
	}
}

func (h *Hazards) count(now grid.Time, id grid.NodeID, d time.Duration, lost float64) {
	h.all.add(now, d, lost)
	at, ok := h.find(id)
	if !ok {
		if len(h.nodes) >= maxRecords {
			h.evict()
			at, _ = h.find(id)
		}
		h.nodes = slices.Insert(h.nodes, at, nodeExposure{node: id})
	}
	h.nodes[at].add(now, d, lost)
}

func (h *Hazards) find(id grid.NodeID) (int, bool) {
	return slices.BinarySearchFunc(h.nodes, id, func(n nodeExposure, id grid.NodeID) int { return n.node.Compare(id) })
}

// evict removes the node that was given nothing for longest.
func (h *Hazards) evict() {
	oldest := 0
	for i := range h.nodes {
		if h.nodes[i].at < h.nodes[oldest].at {
			oldest = i
		}
	}
	h.nodes = slices.Delete(h.nodes, oldest, oldest+1)
}

// Rate is the expected losses a second of an attempt at a node.
func (h *Hazards) Rate(now grid.Time, id grid.NodeID) float64 {
	all := h.all.decayed(now)
	grids := (all.lost + priorHazard*priorExposure) / (all.seconds + priorExposure)
	at, ok := h.find(id)
	if !ok {
		return grids
	}
	own := h.nodes[at].decayed(now)
	return (own.lost + priorLosses) / (own.seconds + priorLosses/grids)
}

// Risk is the probability that a node loses an attempt within so many seconds from now.
func (h *Hazards) Risk(now grid.Time, id grid.NodeID, seconds float64) float64 {
	return -math.Expm1(-h.Rate(now, id) * max(seconds, 0))
}
