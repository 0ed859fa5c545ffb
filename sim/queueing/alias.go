package queueing

// alias draws an index with given weights in constant time [3].
type alias struct {
	part  []float64
	other []int32
}

// fill makes the table for weights that are not all 0, and returns their sum.
func (a *alias) fill(weights []float64) (total float64) {
	n := len(weights)
	a.part, a.other = append(a.part[:0], weights...), append(a.other[:0], make([]int32, n)...)
	for _, w := range weights {
		total += w
	}
	var small, large []int32
	for k := range a.part {
		a.other[k] = int32(k)
		if total > 0 {
			a.part[k] *= float64(n) / total
		}
		if a.part[k] < 1 {
			small = append(small, int32(k))
		} else {
			large = append(large, int32(k))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a.other[s] = l
		if a.part[l] -= 1 - a.part[s]; a.part[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	heaviest := 0
	for k, w := range weights {
		if w > weights[heaviest] {
			heaviest = k
		}
	}
	for _, k := range append(small, large...) { // what rounding left over
		a.part[k] = 1
		if weights[k] == 0 {
			a.part[k], a.other[k] = 0, int32(heaviest)
		}
	}
	return total
}

// draw returns the index for 64 random bits: the upper half picks a column, the lower half one of its two.
func (a *alias) draw(u uint64) int {
	k := int((u >> 32) * uint64(len(a.part)) >> 32)
	if float64(uint32(u)) < a.part[k]*(1<<32) {
		return k
	}
	return int(a.other[k])
}
