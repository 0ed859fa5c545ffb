package gang

import "math"

// agglomerate adds to the sites of the best schedule so far, one by one, those that were not united in every way: each
// time the one with which the predicted time of all places together is the least, as long as the best schedule gets
// better. With n sites that is less than n² unions, where there are 2^n − 1 in all. Where no union had a feasible
// schedule it begins with all strongest sites, and adds until there is one.
func (s *search) agglomerate() {
	if s.examined.Sites <= MaxSites {
		return
	}
	in := make([]bool, s.examined.Sites)
	if s.best.ranks > 0 {
		for _, p := range s.order[:s.best.ranks] {
			in[s.places.site[p]] = true
		}
	} else {
		for _, site := range s.strongest() {
			in[site] = true
		}
	}
	for {
		site := s.addition(in)
		if site < 0 {
			return
		}
		before := s.best
		in[site] = true
		s.union(1<<MaxSites+s.examined.Unions, in)
		if before.ranks > 0 && !s.better(&s.best, &before) {
			return
		}
	}
}

// addition is the site with which a union is fastest when all its places are used, or as many as there may be ranks;
// where no such group is feasible, the one with most memory. It is -1 where no site is left.
func (s *search) addition(in []bool) (best int) {
	best = -1
	least, most := math.Inf(1), 0.0
	for site := range in {
		if in[site] {
			continue
		}
		in[site] = true
		s.whole = s.places.order(in, byComputation, s.whole[:0])
		in[site] = false
		memory := s.grow(s.whole).Memory
		t := math.Inf(1)
		if n := min(len(s.whole), s.ranks.Max); n >= s.ranks.Min && !s.policy.MemoryOnly {
			g := s.grow(s.whole[:n])
			if lower := s.bound(&g.Summary); lower <= least && !math.IsInf(lower, 1) {
				t = s.value(s.whole, n, g.key)
			}
		}
		if best < 0 || t < least || t == least && memory > most {
			best, least, most = site, t, memory
		}
	}
	return best
}
