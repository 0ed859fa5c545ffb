package mapper

import "skep/gang"

// equal gives each rank N/p units, and the first N mod p of them one more.
func equal(units int, s *gang.Schedule) error {
	p := len(s.Costs)
	for k := range s.Shares {
		n := units / p
		if k < units%p {
			n++
		}
		if float64(n) > s.Costs[k].Most {
			return NoRoom{Units: units, Fit: least(s.Costs), Ranks: p, Equal: true}
		}
		s.Shares[k] = float64(n)
	}
	return nil
}

func least(costs []gang.Cost) float64 {
	x := costs[0].Most
	for _, c := range costs {
		x = min(x, c.Most)
	}
	return x
}
