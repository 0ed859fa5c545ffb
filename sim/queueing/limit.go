package queueing

import (
	"math"
	"strings"
	"sync/atomic"

	"skep/lpas"
)

// Limit is a bound on the factor by which all arrivals could grow under a policy, as far as it is known before a run:
// with 1 or less the system fills up, however slowly, which a run of any length may fail to show. It is
// [System.Lambda], or less where what a policy makes of a system at rest does not depend on its queues:
//
//	met, kpb   lambda* of the machines that they take for each class
//	cb         and its kin, but cb_spill: lambda* of the machines that are kept for each class
//	local      min_j 1 / Σ_i alpha_ij/mu_ij
//	random     the same, with each class split evenly over the machines that can run it
//	fcfs       Σ_j 1/(Σ_i p_i/mu_ij) / alpha, with p_i = alpha_i/alpha, where all machines run all classes
//
// with 1/mu_ij longer by 2·delay where machines take.
//
// A system at rest has no faults and no changes, and what policies are told of it is true.
func (s *System) Limit(policy string, o *Options) float64 {
	all := s.lambda(s.overhead(policy))
	if !s.atRest() {
		return all
	}
	limit := all
	switch base, _, _ := strings.Cut(policy, ":"); base {
	case "met":
		limit = s.taken(s.fastest())
	case "kpb", "kpb_ceil":
		if set, ok := s.polled(policy, o); ok {
			limit = s.taken(set)
		}
	case "cb", "cb_rr", "cb_frr", "cb_rr2", "cb_li", "cb_lis":
		limit = s.taken(s.kept())
	case "local":
		limit = s.apart(s.alphaOn)
	case "random":
		limit = s.apart(s.evenly)
	case "fcfs":
		limit = s.blind()
	}
	return min(limit, all)
}

func (s *System) atRest() bool {
	for l := range s.Machines {
		if s.failures(l).Rate > 0 || s.availability(l).Chain != nil {
			return false
		}
	}
	return s.RateChanges == nil && s.AvailabilityChanges == nil && s.Inaccuracy == Inaccuracy{} && len(s.Announced) == 0
}

// rate is the execution rate of a class on a machine of a line.
func (s *System) rate(i, line int) float64 { return s.Mu[i][line] * s.availability(line).Fixed }

// use is which machines a policy takes: by class, and of a class by line, how many of the line's.
type use [][]int

// fastest is the lines that run a class fastest.
func (s *System) fastest() use {
	set := make(use, len(s.Classes))
	for i := range set {
		set[i] = make([]int, len(s.Machines))
		best := 0.0
		for l := range s.Machines {
			best = max(best, s.rate(i, l))
		}
		for l, line := range s.Machines {
			if s.rate(i, l) == best {
				set[i][l] = line.count()
			}
		}
	}
	return set
}

// kept is the machines that are kept for a class, or for all.
func (s *System) kept() use {
	set := make(use, len(s.Classes))
	for i, class := range s.Classes {
		set[i] = make([]int, len(s.Machines))
		for l, line := range s.Machines {
			if line.Class == "" || line.Class == class {
				set[i][l] = line.count()
			}
		}
	}
	return set
}

// polled is whom a policy asks, which for kpb is always the same; of a line always the first ones.
func (s *System) polled(policy string, o *Options) (use, bool) {
	e, err := newEngine(s, policy, o, 0, new(atomic.Bool))
	if err != nil || e.push == nil {
		return nil, false
	}
	set := make(use, len(s.Classes))
	for i := range set {
		set[i] = make([]int, len(s.Machines))
		e.push.look(e, 0, i, 0)
		for _, id := range e.push.policies[0].Poll(0, &e.push.tasks[i], e.push.view, nil) {
			set[i][e.line[number(&id)]]++
		}
	}
	return set, true
}

// taken is lambda* where a class goes to no other machines than those of a set.
func (s *System) taken(set use) float64 {
	n := len(s.Classes)
	var lines []int // of the LP's columns
	var from []int  // where in its line a column begins
	p := lpas.Problem{}
	for l, line := range s.Machines {
		for at := 0; at < line.count(); {
			next := line.count() // the first machine from at on that another number of classes takes
			for i := range n {
				if x := set[i][l]; x > at {
					next = min(next, x)
				}
			}
			lines, from, p.Cap = append(lines, l), append(from, at), append(p.Cap, float64(next-at))
			at = next
		}
	}
	for i := range n {
		p.Alpha = append(p.Alpha, s.total(i))
		for k, l := range lines {
			mu := 0.0
			if from[k] < set[i][l] {
				mu = s.rate(i, l)
			}
			p.Mu = append(p.Mu, mu)
		}
	}
	var sol lpas.Solution
	lpas.Vertex(&p, new(lpas.Basis), new(lpas.Workspace), &sol)
	if len(sol.Unrunnable) > 0 {
		return 0
	}
	return sol.Lambda
}

// alphaOn is the arrival rate of a class at one machine of a line.
func (s *System) alphaOn(i, line int) float64 {
	if s.AlphaAt != nil {
		return s.AlphaAt[i][line]
	}
	return s.Alpha[i] / float64(s.Size())
}

// evenly is the part of a class that a machine gets which takes as much of it as any other that can run it.
func (s *System) evenly(i, line int) float64 {
	able := 0
	for l, x := range s.Machines {
		if s.rate(i, l) > 0 {
			able += x.count()
		}
	}
	if s.rate(i, line) == 0 {
		return 0
	}
	return s.total(i) / float64(able)
}

// apart is the limit of machines that each have arrivals of their own.
func (s *System) apart(alpha func(i, line int) float64) float64 {
	most := 0.0
	for l := range s.Machines {
		load := 0.0
		for i := range s.Classes {
			if a := alpha(i, l); a > 0 {
				load += a / s.rate(i, l)
			}
		}
		most = max(most, load)
	}
	return 1 / most
}

// blind is the limit where a machine takes tasks as they come, whatever their class.
func (s *System) blind() float64 {
	total, capacity := 0.0, 0.0
	for i := range s.Classes {
		total += s.total(i)
	}
	for l, line := range s.Machines {
		time := 0.0
		for i := range s.Classes {
			if s.rate(i, l) == 0 {
				return math.Inf(1) // it passes some by: this formula does not say which
			}
			time += s.total(i) / total * (1/s.rate(i, l) + 2*s.Delay)
		}
		capacity += float64(line.count()) / time
	}
	return capacity / total
}
