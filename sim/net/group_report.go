package net

import (
	"math"

	"skep/grid"
)

// GroupReport is about one group of nodes.
type GroupReport struct {
	Group string   `json:"group"`
	Ran   Estimate `json:"ran"` // share of all tasks that ran there
}

func (r *Report) groups(s *Scenario, all []*sample) {
	for g := range s.Groups {
		r.Groups = append(r.Groups, GroupReport{s.Groups[g].Name,
			over(all, func(m *sample) float64 { return float64(m.ran[g]) / float64(m.counted) })})
	}
}

// mean returns the mean completion time of all classes together, in seconds.
func (m *sample) mean(s *Scenario) float64 {
	sum, n := 0.0, 0
	for i := range s.Classes {
		t := m.classes[s.Classes[i].Name]
		for _, x := range t.completion {
			sum += x
		}
		n += len(t.completion)
	}
	return sum / float64(n)
}

// makespan is the time in seconds from the arrival of the first task to the end of the last; NaN of none.
func (b *bag) makespan() float64 {
	if b.first < 0 {
		return math.NaN()
	}
	return (b.last - b.first).Seconds()
}

func (r *Report) views(all []*sample) {
	for hops := range uint8(grid.MaxHops + 1) {
		v := ViewReport{Hops: int(hops)}
		entry := func(f func(a *viewErrors) float64) Estimate {
			return over(all, func(m *sample) float64 {
				if a := m.views[hops]; a != nil {
					return f(a) / float64(a.n)
				}
				return math.NaN()
			})
		}
		for _, m := range all {
			if a := m.views[hops]; a != nil {
				v.Entries += a.n
			}
		}
		if v.Entries > 0 {
			v.Age, v.Error = entry(func(a *viewErrors) float64 { return a.age }),
				entry(func(a *viewErrors) float64 { return a.error })
			r.View = append(r.View, v)
		}
	}
}
