package gang

import (
	"cmp"
	"slices"
)

// MaxSites is how many sites are united in every way: 2^8 − 1 unions.
const MaxSites = 8

// unite goes through all unions of sites: of those with most computation where there are more than [MaxSites]. Unions
// whose places together have the lowest bounds come first, so that most groups of the others cannot be chosen.
func (s *search) unite() {
	kept := s.strongest()
	type union struct {
		mask  uint
		lower float64
	}
	var all []union
	in := make([]bool, s.examined.Sites)
	enter := func(mask uint) {
		for k, site := range kept {
			in[site] = mask>>k&1 == 1
		}
	}
	for mask := uint(1); mask < 1<<len(kept); mask++ {
		enter(mask)
		s.whole = s.places.order(in, byComputation, s.whole[:0])
		whole := s.whole[:min(len(s.whole), s.ranks.Max)]
		all = append(all, union{mask, s.bound(&s.grow(whole).Summary)})
	}
	slices.SortStableFunc(all, func(a, b union) int { return cmp.Compare(a.lower, b.lower) })
	for _, u := range all {
		enter(u.mask)
		s.union(int(u.mask), in)
	}
}

// apart goes through the sites one by one.
func (s *search) apart() {
	in := make([]bool, s.examined.Sites)
	for site := range in {
		in[site] = true
		id := site
		if len(in) <= MaxSites {
			id = 1 << site
		}
		s.union(id, in)
		in[site] = false
	}
}

// strongest returns the sites with most computation, at most [MaxSites], in the order of their numbers.
func (s *search) strongest() []int {
	speed, all := make([]float64, s.examined.Sites), make([]int, s.examined.Sites)
	for p, site := range s.places.site {
		speed[site] += s.places.speed[p]
	}
	for k := range all {
		all[k] = k
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(speed[b], speed[a]) })
	all = all[:min(len(all), MaxSites)]
	slices.Sort(all)
	return all
}
