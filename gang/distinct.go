package gang

import "slices"

// distinct counts candidate groups, each once.
//
// Where all unions of sites are gone through, a group that has ranks in every site of its union can be found again
// only under another focus of that union, at the same number of ranks. One that has none in some site is also a group
// of the union of its own sites: sorted by speed or by memory the places of these sites are in the same order there,
// and so are they by both if the largest speed and memory are the same. Few others are left, which are kept in a
// table. Where not all unions are gone through, all groups are.
type distinct struct {
	all     *sets // nil: the unions are all there are
	count   int
	keys    [1 << MaxSites][foci][]uint64 // by the sites of a union, and the number of ranks
	partial map[uint64]place
	places  *places
}

// place is where a group is looked up: the union of its sites, and its number among the groups of a loop.
type place struct{ union, number int }

func newDistinct(x *places, sites int) *distinct {
	d := &distinct{partial: map[uint64]place{}, places: x}
	if sites > MaxSites {
		d.all = newSets(1 << 17)
		return d
	}
	return d
}

// touched is the sites of a group, one bit each.
func (g *growing) touched() (mask int) {
	for k := range g.Sites {
		mask |= 1 << g.Sites[k].Site
	}
	return mask
}

func (d *distinct) most(mask int) (x [2]float64) {
	for s, of := range d.places.largest {
		if mask>>s&1 == 1 {
			x = [2]float64{max(x[0], of[0]), max(x[1], of[1])}
		}
	}
	return x
}

// loop counts the groups of a loop, of which those before number first have no ranks in some site of the union.
func (d *distinct) loop(union int, f focus, keys []uint64, partial []int) {
	if d.all != nil {
		for _, key := range keys {
			d.all.add(key)
		}
		return
	}
	d.keys[union][f] = keys
	most := d.most(union)
	last, same := 0, false
	for k, mask := range partial {
		if mask != last {
			last, same = mask, f != byBoth || d.most(mask) == most
		}
		if !same {
			d.partial[keys[k]] = place{mask, k}
		}
	}
	d.count += len(keys) - len(partial)
	for k := len(partial); k < len(keys); k++ {
		for _, other := range d.keys[union][:f] {
			if k < len(other) && other[k] == keys[k] {
				d.count--
				break
			}
		}
	}
}

// sum is the number of groups.
func (d *distinct) sum() int {
	if d.all != nil {
		return d.all.used
	}
	n := d.count
	for key, at := range d.partial {
		if !slices.ContainsFunc(d.keys[at.union][:], func(keys []uint64) bool {
			return at.number < len(keys) && keys[at.number] == key
		}) {
			n++
		}
	}
	return n
}
