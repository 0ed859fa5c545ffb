package net

import (
	"fmt"
	"slices"
	"strings"

	"skep/grid"
)

// given returns for each group the rates that its nodes are given: arrivals as the streams bring them in the long run,
// and what a slot completes of each class.
func (s *Scenario) given() [][]grid.Rate {
	out := make([][]grid.Rate, len(s.Groups))
	for g := range s.Groups {
		for k := range s.Classes {
			c := &s.Classes[k]
			x := grid.Rate{Class: c.Name, Mu: s.Groups[g].rate(c)}
			for i := range s.Streams {
				if st := &s.Streams[i]; st.Class == c.Name && (len(st.From) == 0 || slices.Contains(st.From, s.Groups[g].Name)) {
					x.Alpha += s.load(st) / float64(len(s.origins(st)))
				}
			}
			if x.Mu > 0 && s.suits(&s.Groups[g], c) {
				out[g] = append(out[g], x)
			}
		}
		slices.SortFunc(out[g], func(a, b grid.Rate) int { return strings.Compare(a.Class, b.Class) })
	}
	return out
}

// checkGiven reports rates that nodes cannot be given.
func (s *Scenario) checkGiven(bad func(where, format string, args ...any)) {
	if !s.Given {
		return
	}
	if len(s.Classes) > grid.MaxRates {
		bad("rates", "given for %d classes: want at most %d, as many as a node tells of", len(s.Classes), grid.MaxRates)
	}
	for k := range s.Classes {
		c := &s.Classes[k]
		for g := range s.Groups {
			group := &s.Groups[g]
			if group.rate(c) == 0 && s.fits(group, c) {
				bad(fmt.Sprint("nodes.", g), "has no rate for class %q though it has what that needs: "+
					"want a rate above 0 where rates are given, or a label that the class needs and this group has not", c.Name)
			}
		}
	}
}
