package gang

import "slices"

// arranger puts groups into the order of the ranks.
type arranger struct {
	places *places
	marked []bool // places of a group
	group  Group
	run    []int // places of one site
	spare  []int
}

func newArranger(p *Pool, x *places) arranger {
	return arranger{places: x, marked: make([]bool, len(x.machine)), group: Group{Pool: p}}
}

// lay puts places into the order of the ranks: site by site, in the order of the sites' numbers, so that at most two
// ranks of a site have a neighbour in another one [1, section IV.C]. Those are the slowest of the site: what a rank at
// the edge does not compute while it exchanges messages is the less, the slower it is. [1] leaves the order within a
// site open. The group is valid until the next one.
func (a *arranger) lay(set []int) *Group {
	for _, p := range set {
		a.marked[p] = true
	}
	a.group.Places, a.run = a.group.Places[:0], a.run[:0]
	for _, p := range a.places.logical {
		if !a.marked[p] {
			continue
		}
		a.marked[p] = false
		if len(a.run) > 0 && a.places.site[a.run[0]] != a.places.site[p] {
			a.append(false)
		}
		a.run = append(a.run, p)
	}
	a.append(true)
	return &a.group
}

// append appends the places of one site, which are sorted by speed, the fastest first. The first site has its edge at
// its end, the last one at its beginning, and one between them at both.
func (a *arranger) append(last bool) {
	first := len(a.group.Places) == 0
	switch {
	case first: // as it is
	case last:
		slices.Reverse(a.run)
	default:
		a.ends()
	}
	for _, p := range a.run {
		a.group.Places = append(a.group.Places, a.places.machine[p])
	}
	a.run = a.run[:0]
}

// ends puts the slowest places to both ends.
func (a *arranger) ends() {
	n := len(a.run)
	sorted := append(a.spare[:0], a.run...)
	for k := range n {
		p := sorted[n-1-k] // the slowest but k
		if k%2 == 0 {
			a.run[k/2] = p
		} else {
			a.run[n-1-k/2] = p
		}
	}
	a.spare = sorted
}
