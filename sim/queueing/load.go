package queueing

import (
	"math"

	"skep/lpas"
)

// Lambda is the optimum of the allocation LP at the mean rates: the factor by which all arrivals could
// grow, with what availability and failures leave of the machines. 1/Lambda is the load; with 1 or less no
// policy can keep up [1, section 2.2]. 0 if a class that arrives cannot run anywhere.
func (s *System) Lambda() float64 { return s.lambda(0) }

// lambda is Lambda where each task holds its machine for a time besides its execution.
func (s *System) lambda(overhead float64) float64 {
	n, lines := len(s.Classes), len(s.Machines)
	p := lpas.Problem{Alpha: make([]float64, n), Cap: make([]float64, lines), Mu: make([]float64, n*lines)}
	fa, fm := 1.0, 1.0
	if s.RateChanges != nil {
		fa, fm = average(s.RateChanges.Alpha), average(s.RateChanges.Mu)
	}
	for l, line := range s.Machines {
		there := s.availability(l).mean()
		if s.AvailabilityChanges != nil {
			there = average(s.AvailabilityChanges.Values)
		}
		p.Cap[l] = float64(line.count()) * s.failures(l).up() * there
		for i := range n {
			mu := s.Mu[i][l] * fm
			p.Mu[i*lines+l] = mu * useful(mu*there, overhead)
		}
	}
	for i := range n {
		p.Alpha[i] = s.total(i) * fa
	}
	var sol lpas.Solution
	lpas.Vertex(&p, new(lpas.Basis), new(lpas.Workspace), &sol)
	if len(sol.Unrunnable) > 0 {
		return 0
	}
	return sol.Lambda
}

// useful is the part of a machine's time in which it executes, by which [1, section 3.5.2] multiplies rates:
//
//	p_ij = (1/mu_ij) / (1/mu_ij + tau_j)
//
// with tau_j the time for which each task holds the machine besides.
func useful(mu, tau float64) float64 { return 1 / (1 + mu*tau) }

// overhead is the time that a task holds a machine besides its execution under a policy: where machines take, it
// is asked for and sent while the machine waits.
func (s *System) overhead(policy string) float64 {
	if IsPull(policy) {
		return 2 * s.Delay
	}
	return 0
}

// total is the arrival rate of a class over the whole system.
func (s *System) total(i int) float64 {
	if s.AlphaAt == nil {
		return s.Alpha[i]
	}
	sum := 0.0
	for l, line := range s.Machines {
		sum += s.AlphaAt[i][l] * float64(line.count())
	}
	return sum
}

// average of factors; 1 where there are none.
func average(x []float64) float64 {
	if len(x) == 0 {
		return 1
	}
	sum := 0.0
	for _, f := range x {
		sum += f
	}
	return sum / float64(len(x))
}

// stable reports whether the load can be carried.
func stable(lambda float64) bool { return lambda > 1 && !math.IsNaN(lambda) }
