package gang

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Search finds the best schedule of an application on the machines of a pool. What it examined is told with an error,
// too. The same arguments give the same schedule.
func Search(pool *Pool, cop COP, policy Policy) (Schedule, Examined, error) {
	ranks, err := policy.check(pool.Places(), cop.Model.Units())
	if err != nil {
		return Schedule{}, Examined{}, err
	}
	s := newSearch(pool, cop, policy, ranks)
	if policy.OneSite {
		s.apart()
	} else {
		s.unite()
		s.agglomerate()
	}
	s.examined.Distinct = s.distinct.sum()
	if s.best.ranks == 0 {
		return Schedule{}, s.examined, s.nothing()
	}
	best, err := s.schedule()
	return best, s.examined, err
}

// search is one search while it runs.
type search struct {
	pool     *Pool
	cop      COP
	policy   Policy
	ranks    Range
	places   *places
	site     []int // by machine
	between  *between
	bounder  Bounder // nil: each group is mapped
	distinct *distinct
	keys     []uint64           // those of the loops lie in it
	times    map[uint64]float64 // predicted, of the sets that were mapped, seconds; +Inf = not feasible
	loops    [foci]loop         // of the union at hand
	best     candidate
	order    []int // of the loop of the best
	examined Examined

	grown   growing
	logical arranger
	whole   []int // places of a union
	scratch Schedule
}

func newSearch(pool *Pool, cop COP, policy Policy, ranks Range) *search {
	site, sites := Sites(pool, cmp.Or(policy.SiteDelay, DefaultSiteDelay))
	s := &search{pool: pool, cop: cop, policy: policy, ranks: ranks, places: newPlaces(pool, site, sites), site: site,
		examined: Examined{Sites: sites}, times: map[uint64]float64{}}
	s.between = newBetween(pool, site, sites)
	s.bounder, _ = cop.Model.(Bounder)
	s.logical = newArranger(pool, s.places)
	s.distinct = newDistinct(s.places, sites)
	return s
}

// value returns the predicted time of the first k places of an order, in seconds; +Inf where they are not feasible. In
// a search by memory alone each feasible group takes 0 s. A set is mapped once.
func (s *search) value(order []int, k int, key uint64) float64 {
	if t, is := s.times[key]; is {
		return t
	}
	t := math.Inf(1)
	if s.cop.Mapper.Map(s.logical.lay(order[:k]), s.cop.Model, &s.scratch) == nil {
		t = 0
		if !s.policy.MemoryOnly {
			t = s.cop.Model.Predict(&s.scratch)
		}
	}
	if math.IsNaN(t) {
		t = math.Inf(1)
	}
	s.examined.Mapped++
	s.times[key] = t
	return t
}

// schedule maps the best group again. Ranks that got no work are left out as long as there are enough: without them the
// others exchange fewer messages.
func (s *search) schedule() (Schedule, error) {
	out := Schedule{}
	group := s.logical.lay(s.order[:s.best.ranks])
	if err := s.cop.Mapper.Map(group, s.cop.Model, &out); err != nil {
		return Schedule{}, fmt.Errorf("%w: %w", ErrNone, err)
	}
	s.predict(&out)
	for !s.policy.MemoryOnly {
		var rest []int
		for k, share := range out.Shares {
			if share > 0 {
				rest = append(rest, out.Places[k])
			}
		}
		if len(rest) == len(out.Places) || len(rest) < s.ranks.Min {
			break
		}
		group.Places = rest
		fewer := Schedule{}
		if s.cop.Mapper.Map(group, s.cop.Model, &fewer) != nil {
			break
		}
		if s.predict(&fewer); !(fewer.Time <= out.Time) {
			break
		}
		out = fewer
	}
	return out, nil
}

func (s *search) predict(x *Schedule) {
	x.Time = math.NaN()
	if !s.policy.MemoryOnly {
		x.Time = s.cop.Model.Predict(x)
	}
	var sites []int
	for _, m := range x.Places {
		if site := s.site[m]; !slices.Contains(sites, site) {
			sites = append(sites, site)
		}
	}
	x.Sites = len(sites)
}

// nothing says why there is no schedule: what the mapper says of the largest group.
func (s *search) nothing() error {
	all := s.places.sorted[byMemory]
	err := s.cop.Mapper.Map(s.logical.lay(all[:min(len(all), s.ranks.Max)]), s.cop.Model, &s.scratch)
	switch {
	case err != nil:
		return fmt.Errorf("%w of %d groups: %w", ErrNone, s.examined.Distinct, err)
	case s.policy.OneSite && s.examined.Sites > 1:
		return fmt.Errorf("%w within one of %d sites", ErrNone, s.examined.Sites)
	}
	return fmt.Errorf("%w of %d groups: of each, a machine computes nothing or a link is not known", ErrNone,
		s.examined.Distinct)
}
