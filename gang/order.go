package gang

import (
	"cmp"
	"slices"
)

// Focus is what the machines of a union are sorted by.
type focus int

const (
	byComputation focus = iota
	byMemory
	byBoth // equal weight on both
	foci
)

// places are all places of a pool: a machine with s slots has s of them, one after the other.
type places struct {
	machine []int
	site    []int
	speed   []float64
	memory  []float64
	key     []uint64 // of sets: that of a set is the sum of those of its places

	largest [][2]float64 // speed and memory of a place, by site

	logical []int // all places, site by site, in a site the faster first
	sorted  [byBoth][]int
	dual    map[[2]float64][]int // by the largest speed and memory of a union
}

func newPlaces(p *Pool, site []int, sites int) *places {
	x := &places{dual: map[[2]float64][]int{}, largest: make([][2]float64, sites)}
	for m := range p.Machines {
		for range p.slots(m) {
			x.key = append(x.key, mix(uint64(len(x.key)+1)))
			x.machine = append(x.machine, m)
			x.site = append(x.site, site[m])
			x.speed = append(x.speed, p.Machines[m].Speed)
			x.memory = append(x.memory, p.PlaceMemory(m))
		}
		most := &x.largest[site[m]]
		*most = [2]float64{max(most[0], p.Machines[m].Speed), max(most[1], p.PlaceMemory(m))}
	}
	x.sorted[byComputation] = x.by(func(a, b int) int { return cmp.Compare(x.speed[b], x.speed[a]) })
	x.sorted[byMemory] = x.by(func(a, b int) int { return cmp.Compare(x.memory[b], x.memory[a]) })
	x.logical = x.by(func(a, b int) int {
		return cmp.Or(cmp.Compare(x.site[a], x.site[b]), cmp.Compare(x.speed[b], x.speed[a]))
	})
	return x
}

// by sorts all places; those that are equal stay in the order of the machines.
func (x *places) by(compare func(a, b int) int) []int {
	all := make([]int, len(x.machine))
	for k := range all {
		all[k] = k
	}
	slices.SortStableFunc(all, compare)
	return all
}

// order appends the places of a union, the best first [1, section III.B.2].
func (x *places) order(in []bool, f focus, dst []int) []int {
	var all []int
	if f != byBoth {
		all = x.sorted[f]
	} else {
		all = x.both(in)
	}
	for _, p := range all {
		if in[x.site[p]] {
			dst = append(dst, p)
		}
	}
	return dst
}

// both sorts all places by ½·speed/largest speed + ½·memory/largest memory, the largest being those of a union. [1]
// says no more than that the weights are equal.
func (x *places) both(in []bool) []int {
	var largest [2]float64
	for site, most := range x.largest {
		if in[site] {
			largest = [2]float64{max(largest[0], most[0]), max(largest[1], most[1])}
		}
	}
	if x.dual[largest] == nil {
		value := make([]float64, len(x.machine))
		for p := range value {
			for k, of := range [2]float64{x.speed[p], x.memory[p]} {
				if largest[k] > 0 {
					value[p] += of / largest[k] / 2
				}
			}
		}
		x.dual[largest] = x.by(func(a, b int) int { return cmp.Compare(value[b], value[a]) })
	}
	return x.dual[largest]
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
