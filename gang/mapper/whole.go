package mapper

import (
	"cmp"
	"math"
	"slices"

	"skep/gang"
)

// Whole rounds shares to whole units: down, and what is left goes to the largest remainders whose memory holds one
// more. A rank without any gets one of the rank that has most, as long as there are units enough. The sum is that of
// the shares, rounded.
func Whole(s *gang.Schedule) []int {
	p := len(s.Shares)
	out, by := make([]int, p), make([]int, p)
	sum, total := 0, 0.0
	for k, x := range s.Shares {
		out[k], by[k] = int(math.Floor(x+1e-9)), k
		sum += out[k]
		total += x
	}
	slices.SortStableFunc(by, func(a, b int) int {
		return cmp.Compare(s.Shares[b]-float64(out[b]), s.Shares[a]-float64(out[a]))
	})
	left := int(math.Round(total)) - sum
	for _, strict := range []bool{true, false} { // where no memory holds more, the margin has to
		for _, k := range by {
			if left > 0 && (!strict || float64(out[k]+1) <= s.Costs[k].Most) {
				out[k]++
				left--
			}
		}
	}
	for k := range out {
		if most := slices.Index(out, slices.Max(out)); out[k] == 0 && out[most] > 1 {
			out[k]++
			out[most]--
		}
	}
	return out
}
