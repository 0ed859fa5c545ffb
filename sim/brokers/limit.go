package brokers

import (
	"math"
	"strings"
)

// Limit is the rate of jobs at which a grid is full, as far as it is known before a run; with more it fills up, however
// slowly, which a run of any length may fail to show. A resource does a second of work in a second, so that n of them
// carry
//
//	n / Σ_k p_k·S_k
//
// jobs a second, and those kept for class k no more than n_k/(p_k·S_k), where a policy keeps classes apart. Jobs that
// are taken for others of class, or stopped at the bound of theirs, move work between classes: only all of it is
// known then.
func (s *System) Limit(policy string) float64 {
	kept := map[string]int{}
	n := 0
	for _, cluster := range s.Clusters {
		for _, class := range cluster {
			kept[class]++
			n++
		}
	}
	apart := strings.HasPrefix(policy, "cb") && policy != "cb_spill" && s.Mistaken == 0
	for k := range s.Classes {
		apart = apart && s.Classes[k].Bound == 0
	}
	if !apart {
		return float64(n) / s.Mean()
	}
	limit := math.Inf(1)
	for k := range s.Classes {
		c := &s.Classes[k]
		if own := kept[c.Name]; own > 0 { // without any its jobs are turned away
			limit = min(limit, float64(own)/(c.Part*c.Mean()))
		}
	}
	return limit
}
