package gang

// Sites divides the machines of a pool into sites: two machines of which the mean of both latencies is at most within,
// in seconds, are in one, and so is what a chain of such machines connects (single link). It returns the site of each
// machine; sites are numbered from 0 in the order of their first machines.
//
// The delays inside a site are then less than those between sites, as [1, section III.B.1] wants of a site.
func Sites(p *Pool, within float64) (site []int, count int) {
	n := len(p.Machines)
	site = make([]int, n)
	for m := range site {
		site[m] = -1
	}
	var reached []int
	for first := range n {
		if site[first] >= 0 {
			continue
		}
		site[first], reached = count, append(reached[:0], first)
		for len(reached) > 0 {
			a := reached[len(reached)-1]
			reached = reached[:len(reached)-1]
			for b := range n {
				if site[b] < 0 && (p.Latency(a, b)+p.Latency(b, a))/2 <= within {
					site[b], reached = count, append(reached, b)
				}
			}
		}
		count++
	}
	return site, count
}
