package gang

import (
	"errors"
	"fmt"
	"math"
)

// Group is machines in their logical order: one for each rank, neighbours next to each other. A machine stands in it as
// often as ranks are on it.
type Group struct {
	Pool   *Pool
	Places []int
}

// Cost is what an iteration costs a rank at its place: Fixed + PerUnit·units seconds, for at most Most units.
type Cost struct {
	PerUnit float64 // seconds; +Inf where nothing can be computed
	Fixed   float64 // seconds, of messages; +Inf where a link is unknown
	Most    float64 // units that fit into memory
}

// Schedule is a group with the share of each of its ranks.
type Schedule struct {
	Places []int     // machines by rank
	Shares []float64 // units of work by rank
	Costs  []Cost    // by rank
	Time   float64   // predicted seconds of an iteration; NaN where nothing but memory is modelled
	Sites  int       // that the machines are in

	// Relaxation is by what part times of ranks may differ: R of [1, section IV.C.2]. It is 0 where they are equal and for
	// mappers that have no such bound.
	Relaxation float64
}

// Model is what an application needs. It does not know how work is divided.
type Model interface {
	// Units is the number of equal parts into which the work can be divided: rows of a mesh.
	Units() int

	// Costs appends the cost of each rank of a group.
	Costs(g *Group, dst []Cost) []Cost

	// Predict returns the seconds of an iteration of a mapped schedule, +Inf where it could not run.
	Predict(s *Schedule) float64
}

// Mapper divides the work of a model among the ranks of a group.
type Mapper interface {
	// Map fills places, shares, costs and relaxation of a schedule, whose slices it may overwrite. The error says why
	// the group cannot have the work.
	Map(g *Group, m Model, s *Schedule) error
}

// Bounder is a model that bounds the times of groups that are not mapped.
type Bounder interface {
	// Bound returns at most what Predict says of any division of the work among such a group; +Inf where there is none.
	Bound(s *Summary) float64
}

// COP is what a search knows of an application: the configurable object program of [1, chapter II].
type COP struct {
	Model  Model
	Mapper Mapper
}

// Range is how many ranks a gang may have.
type Range struct {
	Min int // 0 = 1
	Max int // 0 = as many as there are places and units
}

// Policy is how a search decides [1, Table III.1].
type Policy struct {
	Ranks Range

	// MemoryOnly compares schedules by their machines, not by predicted times: perfModel of [1].
	MemoryOnly bool

	// Conserve is the part by which the predicted time may be longer than the best for the sake of fewer ranks:
	// resConserve of [1], 0.05 there. A larger part takes fewer machines.
	Conserve float64

	// OneSite forbids schedules that span sites: crossSiteOK = NO of [1].
	OneSite bool

	// SiteDelay is the latency, one way in seconds, up to which two machines are in one site; 0 = [DefaultSiteDelay].
	// A larger one makes fewer and larger sites.
	SiteDelay float64
}

// DefaultSiteDelay is longer than any delay in a building, and shorter than those between towns.
const DefaultSiteDelay = 0.0025

// DefaultConserve is that of [1, section III.D].
const DefaultConserve = 0.05

// Examined counts what a search looked at.
type Examined struct {
	Sites  int
	Unions int // of sites

	// Groups counts the candidate groups, one that was found several times as often, as [1, section III.B.2] counts them:
	// 3·n·2^(s−1) of n places in s sites.
	Groups int

	Distinct int // candidate groups, each once
	Mapped   int // those that were given to the mapper; the bounds of the others were too high
}

// ErrNone is what every error of a search without a feasible schedule wraps.
var ErrNone = errors.New("no schedule is feasible")

// check returns the ranks that a search looks at.
func (p *Policy) check(places, units int) (Range, error) {
	r := Range{Min: max(p.Ranks.Min, 1), Max: p.Ranks.Max}
	switch {
	case p.Ranks.Min < 0 || p.Ranks.Max < 0:
		return r, fmt.Errorf("ranks: %d to %d: want numbers from 1 on", p.Ranks.Min, p.Ranks.Max)
	case r.Max > 0 && r.Min > r.Max:
		return r, fmt.Errorf("ranks: min %d is above max %d: want min ≤ max", r.Min, r.Max)
	case !(p.Conserve >= 0) || math.IsInf(p.Conserve, 1):
		return r, fmt.Errorf("conserve: %g: want a part from 0 on", p.Conserve)
	case !(p.SiteDelay >= 0):
		return r, fmt.Errorf("site delay: %g s: want one from 0 on", p.SiteDelay)
	case units < r.Min:
		return r, fmt.Errorf("ranks: %d: the work can be divided among %d at most: %w", r.Min, units, ErrNone)
	case places < r.Min:
		return r, fmt.Errorf("ranks: %d: the machines have %d free slots: %w", r.Min, places, ErrNone)
	}
	most := min(places, units)
	if r.Max == 0 || r.Max > most {
		r.Max = most
	}
	return r, nil
}
