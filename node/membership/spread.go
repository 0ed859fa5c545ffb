package membership

import (
	"slices"

	"skep/grid"
)

// spread chooses up to limit nodes, in random order, preferring at each step the node that shares the fewest failure
// domains with this node and those chosen before.
func (s *Submissions) spread(ads []*grid.Ad, limit int) (ids []grid.NodeID) {
	ads = slices.Clone(ads)
	s.rng.Shuffle(len(ads), func(a, b int) { ads[a], ads[b] = ads[b], ads[a] })
	self, taken := grid.Ad{Labels: s.cfg.Labels}, make([]*grid.Ad, 0, limit)
	for len(ads) > 0 && len(ids) < limit {
		best, least := 0, 1<<30
		for k, ad := range ads {
			same := sharedDomains(ad, &self)
			for _, t := range taken {
				same += sharedDomains(ad, t)
			}
			if same < least {
				best, least = k, same
			}
		}
		ids, taken = append(ids, ads[best].Node), append(taken, ads[best])
		ads = slices.Delete(ads, best, best+1)
	}
	return ids
}

// sharedDomains counts the failure domains that two nodes share: equal labels host, rack, zone.
func sharedDomains(a, b *grid.Ad) (n int) {
	for _, key := range [...]string{"host", "rack", "zone"} {
		x, ok := a.Label(key)
		if y, _ := b.Label(key); ok && x == y {
			n++
		}
	}
	return n
}
