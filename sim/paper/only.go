package paper

import (
	"fmt"
	"slices"
	"strings"
)

// Only leaves of a study what needs no other runs than those of the systems or scenarios named: growth, or growth@1000.
// The error of a name that there is not lists those that there are.
func (s *Study) Only(names ...string) error {
	var there []string
	in := func(scenario string) bool {
		system, _, _ := strings.Cut(scenario, "@")
		there = append(there, system, scenario)
		return slices.Contains(names, system) || slices.Contains(names, scenario)
	}
	if s.walks != nil {
		s.walks.runs = slices.DeleteFunc(s.walks.runs, func(r walkRun) bool { return !in(r.scenario) })
		s.walks.claims = slices.DeleteFunc(s.walks.claims, func(c claim) bool { return !in(c.Scenario) })
		s.walks.pictures = slices.DeleteFunc(s.walks.pictures,
			func(p picture) bool { return !slices.ContainsFunc(p.scenarios, in) })
	}
	s.runs = slices.DeleteFunc(s.runs, func(r run) bool { return !in(r.scenario) })
	s.numbers = slices.DeleteFunc(s.numbers, func(p printed) bool {
		return slices.ContainsFunc(p.keys(), func(k key) bool { return !in(k.scenario) })
	})
	s.curves = slices.DeleteFunc(s.curves, func(c curve) bool { return !in(c.scenario) })
	s.drawn = slices.DeleteFunc(s.drawn, func(p picture) bool { return !slices.ContainsFunc(p.scenarios, in) })
	for _, name := range names {
		if !slices.Contains(there, name) {
			slices.Sort(there)
			return fmt.Errorf("study %s: no system %.80q: want one of %s", s.Name, name,
				strings.Join(slices.Compact(there), ", "))
		}
	}
	return nil
}
