package paper

import (
	"fmt"
	"math"
	"strings"

	"skep/lpas"
	"skep/sim/queueing"
)

// optimum is the allocation LP of a system, machine by machine, with every machine up.
type optimum struct {
	problem lpas.Problem
	first   []int // the first machine of each line
	sol     lpas.Solution
	system  *queueing.System
}

// solve solves it: "vertex" is the optimum with the fewest shares, anything else the one that is even among
// identical machines, which chapter 2 of [1] takes.
func solve(s *queueing.System, form string) *optimum {
	o := &optimum{system: s}
	n := len(s.Classes)
	var line []int
	for l, m := range s.Machines {
		o.first = append(o.first, len(line))
		for range max(m.Count, 1) {
			line = append(line, l)
			a := 1.0
			if len(s.Availability) > 0 {
				a = s.Availability[l].Fixed
			}
			o.problem.Cap = append(o.problem.Cap, a)
		}
	}
	for i := range n {
		total := 0.0
		if s.AlphaAt == nil {
			total = s.Alpha[i]
		}
		for _, l := range line {
			o.problem.Mu = append(o.problem.Mu, s.Mu[i][l])
			if s.AlphaAt != nil {
				total += s.AlphaAt[i][l]
			}
		}
		o.problem.Alpha = append(o.problem.Alpha, total)
	}
	f := lpas.Merged
	if form == "vertex" {
		f = lpas.Vertex
	}
	f(&o.problem, new(lpas.Basis), new(lpas.Workspace), &o.sol)
	return o
}

// measure reads a number off it.
func (o *optimum) measure(p *printed) (float64, error) {
	size := len(o.problem.Mu)
	switch p.kind() {
	case "lambda":
		return o.sol.Lambda, nil
	case "load":
		return 100 / o.sol.Lambda, nil
	case "nonzeros":
		return float64(len(o.sol.Delta)), nil
	case "zeros":
		return float64(size - len(o.sol.Delta)), nil
	case "discount":
		return 100 * (1 - o.asked(p.Policy)/float64(len(o.problem.Cap))), nil
	}
	class, line, _ := strings.Cut(p.rest(), ":")
	for i, c := range o.system.Classes {
		for l, m := range o.system.Machines {
			if c == class && m.Name == line {
				return o.share(i, o.first[l]), nil
			}
		}
	}
	return math.NaN(), fmt.Errorf("%s: no such class or machine", p.Metric)
}

func (o *optimum) share(class, machine int) float64 {
	for _, s := range o.sol.Delta {
		if int(s.Class) == class && int(s.Machine) == machine {
			return s.Part
		}
	}
	return 0
}

// asked is the mean number of machines whose state is asked for on an arrival [1, section 2.3.2]:
//
//	Σ_i alpha_i·|S_i| / Σ_i alpha_i,   with two choices at most 2 for |S_i|
func (o *optimum) asked(policy string) float64 {
	support := make([]float64, len(o.problem.Alpha))
	for _, s := range o.sol.Delta {
		support[s.Class]++
	}
	var sum, total float64
	for i, a := range o.problem.Alpha {
		if policy == "lpas_2k" {
			support[i] = min(support[i], 2)
		}
		sum, total = sum+a*support[i], total+a
	}
	return sum / total
}
