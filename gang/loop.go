package gang

import (
	"math"
	"slices"
)

// loop is a union of sites whose places are sorted by one focus: the innermost loop of [1, Fig. III.3]. Its candidates
// are the first k places, for each k of the ranks wanted.
type loop struct {
	id    int // in the order of [1]
	order []int
	lower []float64 // bound on the time of the first Min, Min+1, … places
	keys  []uint64  // of these sets
	least float64   // of lower

	partial []int // the sites, one bit each, of those sets that do not have all of the union
}

// rounding is by what part times that are equal may differ, since they were computed in different ways.
const rounding = 1e-9

// union decides about the loops of one union, which is the id-th. Where two foci give one order, the second has the
// candidates of the first.
func (s *search) union(id int, in []bool) {
	s.examined.Unions++
	sites := 0
	for _, is := range in {
		if is {
			sites++
		}
	}
	for f := range foci {
		l := &s.loops[f]
		l.id, l.order = int(foci)*id+int(f), s.places.order(in, f, l.order[:0])
		n := min(len(l.order), s.ranks.Max) - s.ranks.Min + 1
		s.examined.Groups += max(n, 0)
		if n < 1 || slices.ContainsFunc(s.loops[:f], func(o loop) bool { return slices.Equal(o.order, l.order) }) {
			continue
		}
		s.bounds(l, s.ranks.Min+n-1, sites)
		s.distinct.loop(id, f, l.keys, l.partial)
		c := candidate{}
		if s.policy.MemoryOnly {
			c = s.leanest(l)
		} else {
			c = s.fastest(l)
		}
		if c.ranks > 0 && (s.best.ranks == 0 || s.better(&c, &s.best)) {
			s.best, s.order = c, append(s.order[:0], l.order...)
		}
	}
}

// bounds computes those of all candidates of a loop, whose union has so many sites.
func (s *search) bounds(l *loop, most, sites int) {
	n := most - s.ranks.Min + 1
	if cap(s.keys)-len(s.keys) < n {
		s.keys = make([]uint64, 0, max(n, 1<<12))
	}
	l.keys = s.keys[len(s.keys) : len(s.keys) : len(s.keys)+n]
	s.keys = s.keys[:len(s.keys)+n]
	l.lower, l.partial, l.least = l.lower[:0], l.partial[:0], math.Inf(1)
	g := &s.grown
	g.reset(s.between.sites)
	for k, place := range l.order[:most] {
		g.add(s.places, s.between, place)
		if k+1 < s.ranks.Min {
			continue
		}
		lower := s.bound(&g.Summary)
		l.lower, l.keys, l.least = append(l.lower, lower), append(l.keys, g.key), min(l.least, lower)
		if len(g.Sites) < sites {
			l.partial = append(l.partial, g.touched())
		}
	}
}

// bound is a time that a group is not below; 0 = nothing is known.
func (s *search) bound(g *Summary) float64 {
	if s.bounder == nil {
		return 0
	}
	if lower := s.bounder.Bound(g) * (1 - rounding); lower >= 0 {
		return lower
	}
	return 0
}

// fastest returns the candidate of a loop of the fewest ranks that takes at most (1 + Conserve) times as long as the
// loop's fastest [1, section III.D]. It is none where the loop has nothing as fast as the best so far. What a bound
// says to be slower than that best is not mapped, unless it could be the candidate of fewest ranks.
func (s *search) fastest(l *loop) candidate {
	most := math.Inf(1)
	if s.best.ranks > 0 {
		most = s.best.time
	}
	if !(l.least <= most) || math.IsInf(l.least, 1) {
		return candidate{}
	}
	fastest := math.Inf(1)
	look := func(k int) {
		if l.lower[k] <= most && l.lower[k] < fastest*(1-rounding) {
			fastest = min(fastest, s.value(l.order, s.ranks.Min+k, l.keys[k]))
		}
	}
	look(slices.Index(l.lower, l.least))
	for k := len(l.lower) - 1; k >= 0; k-- {
		look(k)
	}
	if !(fastest <= most) || math.IsInf(fastest, 1) {
		return candidate{}
	}
	enough := (1 + s.policy.Conserve) * fastest * (1 + rounding)
	for k, lower := range l.lower {
		if lower > enough {
			continue
		}
		ranks := s.ranks.Min + k
		if t := s.value(l.order, ranks, l.keys[k]); t <= enough {
			return s.grow(l.order[:ranks]).candidate(l.id, t)
		}
	}
	return candidate{} // of times so small that no product with them is right
}

// leanest returns the best candidate of a loop where nothing but memory is modelled.
func (s *search) leanest(l *loop) (best candidate) {
	g := &s.grown
	g.reset(s.between.sites)
	for k, place := range l.order[:s.ranks.Min+len(l.lower)-1] {
		g.add(s.places, s.between, place)
		if k+1 < s.ranks.Min || math.IsInf(l.lower[k+1-s.ranks.Min], 1) {
			continue
		}
		c := g.candidate(l.id, 0)
		if best.ranks > 0 && byMachines(&c, &best) >= 0 || s.best.ranks > 0 && byMachines(&c, &s.best) >= 0 {
			continue
		}
		if !math.IsInf(s.value(l.order, k+1, g.key), 1) {
			best = c
		}
	}
	return best
}

func (s *search) grow(set []int) *growing {
	s.grown.reset(s.between.sites)
	for _, p := range set {
		s.grown.add(s.places, s.between, p)
	}
	return &s.grown
}
