package balance

import (
	"math"

	"skep/grid"
)

// draw returns the index of the least score; among those within the share near of it, one at random, all
// equally likely; without r the first. A score of +Inf is out; −1 if all are.
//
// With near 0 only equal scores are drawn from, as [1] breaks ties (sections 2.1 and 2.2). More of it
// keeps deciders that share the same news from all naming the same node.
func draw(scores []float64, near float64, r *grid.Rand) int {
	at, _ := drawTied(scores, near, r)
	return at
}

// drawTied is draw, and returns from how many it drew.
func drawTied(scores []float64, near float64, r *grid.Rand) (at, tied int) {
	best := math.Inf(1)
	for _, s := range scores {
		best = min(best, s)
	}
	if math.IsInf(best, 1) {
		return -1, 0
	}
	limit := min(best+best*near, math.MaxFloat64)
	n, first := 0, -1
	for k, s := range scores {
		if s <= limit {
			if n++; n == 1 {
				first = k
			}
		}
	}
	if n == 1 || r == nil {
		return first, 1
	}
	k := r.IntN(n)
	for at = first; ; at++ {
		if scores[at] <= limit {
			if k == 0 {
				return at, n
			}
			k--
		}
	}
}

// earliest is draw over the expected completions as they are said, with only equal ones drawn from.
func earliest(answers []State, r *grid.Rand) int {
	best, at, n := math.Inf(1), -1, 0
	for k := range answers {
		switch e := answers[k].ECT; {
		case !(e >= 0) || e > best:
		case e < best:
			best, at, n = e, k, 1
		case !math.IsInf(e, 1):
			n++
		}
	}
	if n <= 1 || r == nil {
		return at
	}
	for k := r.IntN(n); ; at++ {
		if answers[at].ECT == best {
			if k == 0 {
				return at
			}
			k--
		}
	}
}

// least appends the indices of the k least scores, least first. Of equal scores that which comes first
// from index start on, going round, is taken first. A score of +Inf is out.
func least(dst []int32, scores []float64, k, start int) []int32 {
	base := len(dst)
	for n := range scores {
		at := start + n
		if at >= len(scores) {
			at -= len(scores)
		}
		s := scores[at]
		if math.IsInf(s, 1) || len(dst)-base == k && (k == 0 || scores[dst[len(dst)-1]] <= s) {
			continue
		}
		if len(dst)-base < k {
			dst = append(dst, int32(at))
		}
		p := len(dst) - 1
		for ; p > base && scores[dst[p-1]] > s; p-- {
			dst[p] = dst[p-1]
		}
		dst[p] = int32(at)
	}
	return dst
}

// sound returns a number of seconds as it is, and +Inf where it is none that can be.
func sound(seconds float64) float64 {
	if seconds >= 0 {
		return seconds
	}
	return math.Inf(1)
}
