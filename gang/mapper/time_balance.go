package mapper

import (
	"errors"

	"skep/gang"
)

// Bounds of the search for R [1, section IV.C.2].
const (
	mostRelaxed = 10
	closeEnough = 0.01
)

// ErrUneven is why a group cannot have work whose ranks would differ too much: the first one's memory is full so early
// that another takes more than eleven times as long.
var ErrUneven = errors.New("the times of the ranks cannot be balanced: the first one's memory holds too few units")

// timeBalance is the linear programme of [1, IV.11 to IV.16] for the smallest R that bisection finds: the least n_0
// under
//
//	|T_i − T_0| ≤ R·T_0,  0 ≤ n_i ≤ cap_i,  Σ n_i = N
func timeBalance(units int, s *gang.Schedule) error {
	n := float64(units)
	if balanced(s, n, 0) {
		return nil
	}
	if !balanced(s, n, mostRelaxed) {
		return ErrUneven
	}
	low, high := 0.0, float64(mostRelaxed)
	for high-low >= closeEnough {
		if middle := (low + high) / 2; balanced(s, n, middle) {
			high = middle
		} else {
			low = middle
		}
	}
	balanced(s, n, high)
	s.Relaxation = high
	return nil
}

// balanced sets the shares for one R, or reports that there are none. With x = n_0 the others are between
//
//	L_i(x) = max(0, ((1−R)·T_0 − m_i)/c_i)  and  U_i(x) = min(cap_i, ((1+R)·T_0 − m_i)/c_i),  T_0 = m_0 + c_0·x
//
// Σ U_i is concave in x, so that Newton's method reaches the least x with x + Σ U_i(x) ≥ N from below in at most as
// many steps as there are ranks. At that x each rank has U_i; what the sum is above N is taken off in proportion to
// U_i − L_i.
func balanced(s *gang.Schedule, n, r float64) bool {
	first := s.Costs[0]
	x := 0.0
	for _, c := range s.Costs[1:] {
		x = max(x, (c.Fixed/(1+r)-first.Fixed)/first.PerUnit)
	}
	t0 := func() float64 { return first.Fixed + first.PerUnit*x }
	upper := func(c gang.Cost) float64 { return min(c.Most, ((1+r)*t0()-c.Fixed)/c.PerUnit) }
	lower := func(c gang.Cost) float64 { return max(0, ((1-r)*t0()-c.Fixed)/c.PerUnit) }
	for range len(s.Costs) + 1 {
		sum, slope := x, 1.0
		for _, c := range s.Costs[1:] {
			u := upper(c)
			if sum += u; u < c.Most {
				slope += (1 + r) * first.PerUnit / c.PerUnit
			}
		}
		if sum >= n*(1-1e-15) {
			break
		}
		x += (n - sum) / slope
	}
	if x > first.Most*(1+1e-12) {
		return false
	}
	highest, lowest := x, x
	for k, c := range s.Costs[1:] {
		u, l := max(0, upper(c)), lower(c)
		if l > u+1e-9*n {
			return false
		}
		highest, lowest = highest+u, lowest+min(l, u)
		s.Shares[k+1] = u
	}
	if highest < n*(1-1e-9) || lowest > n*(1+1e-12) {
		return false
	}
	s.Shares[0] = x
	if highest <= n || highest == lowest {
		return true
	}
	part := (highest - n) / (highest - lowest)
	for k, c := range s.Costs[1:] {
		s.Shares[k+1] -= part * (s.Shares[k+1] - min(lower(c), s.Shares[k+1]))
	}
	return true
}
