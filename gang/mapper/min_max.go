package mapper

import (
	"math"
	"slices"

	"skep/gang"
)

// minMax finds the least T with
//
//	Σ min(cap_i, max(0, (T − m_i)/c_i)) ≥ N
//
// and gives each rank its term of the sum.
func minMax(units int, s *gang.Schedule) error {
	// Times are counted from the least that any rank takes for its messages, so that long ones do not hide the work.
	costs, base := slices.Clone(s.Costs), math.Inf(1)
	for _, c := range costs {
		base = min(base, c.Fixed)
	}
	for k := range costs {
		costs[k].Fixed -= base
	}
	t := level(costs, float64(units))
	for k, c := range costs {
		s.Shares[k] = min(c.Most, max(0, (t-c.Fixed)/c.PerUnit))
	}
	return nil
}

// level finds T by Newton's method, from the T at which the sum would be N if no rank were at either end of what it may
// have. Between two bends of the sum that is exact. A step out of the interval that T is known to be in is replaced by
// half of it.
func level(costs []gang.Cost, n float64) float64 {
	var speed, paid float64
	low, high := math.Inf(1), 0.0
	for _, c := range costs {
		speed += 1 / c.PerUnit
		paid += c.Fixed / c.PerUnit
		low, high = min(low, c.Fixed), max(high, c.Fixed+c.PerUnit*c.Most)
	}
	t := min((n+paid)/speed, high)
	for range 200 {
		sum, slope := 0.0, 0.0
		for _, c := range costs {
			switch x := (t - c.Fixed) / c.PerUnit; {
			case x >= c.Most:
				sum += c.Most
			case x > 0:
				sum, slope = sum+x, slope+1/c.PerUnit
			}
		}
		switch {
		case math.Abs(sum-n) <= 1e-13*n:
			return t
		case sum < n:
			low = t
		default:
			high = t
		}
		if next := t + (n-sum)/slope; next > low && next < high {
			t = next
		} else if middle := (low + high) / 2; middle > low && middle < high {
			t = middle
		} else {
			break
		}
	}
	return high
}
