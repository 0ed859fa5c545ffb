package gang

// Lay returns some machines of a pool, one rank on each, in the order in which a search has them.
func Lay(p *Pool) func(set []int) *Group {
	site, sites := Sites(p, DefaultSiteDelay)
	a := newArranger(p, newPlaces(p, site, sites))
	return a.lay
}
