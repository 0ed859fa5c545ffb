package lpas

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// verify checks the optimality conditions of a solution, with tol relative to the size of what is
// compared: primal and dual feasibility, equal objectives, complementary slackness. They prove the
// optimum without another solver.
func verify(p *Problem, sol *Solution, tol float64) error {
	n, m := len(p.Alpha), len(p.Cap)
	if len(sol.Price) != n {
		return fmt.Errorf("%d prices for %d classes", len(sol.Price), n)
	}
	out := make([]bool, n)
	for _, i := range sol.Unrunnable {
		out[i] = true
		for j, c := range p.Cap {
			if c > 0 && p.Mu[int(i)*m+j] > 0 {
				return fmt.Errorf("class %d is called unrunnable, machine %d runs it", i, j)
			}
		}
	}
	supply, used := make([]float64, n), make([]float64, m)
	worth := make([]float64, m)
	for i, y := range sol.Price {
		if !(y >= 0) {
			return fmt.Errorf("price %d is %v", i, y)
		}
		for j := range worth {
			worth[j] = max(worth[j], y*p.Mu[i*m+j])
		}
	}
	last := Share{Machine: -1}
	for _, d := range sol.Delta {
		i, j := int(d.Class), int(d.Machine)
		mu := p.Mu[i*m+j]
		if !(d.Part > 0) || mu == 0 {
			return fmt.Errorf("share %v with rate %v", d, mu)
		}
		if d.Machine < last.Machine || d.Machine == last.Machine && d.Class <= last.Class {
			return fmt.Errorf("share %v after %v", d, last)
		}
		last = d
		supply[i] += d.Part * mu
		used[j] += d.Part
		if sol.Status == Optimal && sol.Price[i]*mu < worth[j]*(1-tol) {
			return fmt.Errorf("share %v: value %v, another class has %v", d, sol.Price[i]*mu, worth[j])
		}
	}
	for j, c := range p.Cap {
		if used[j] > c*(1+1e-12) {
			return fmt.Errorf("machine %d: %v of %v given away", j, used[j], c)
		}
		if sol.Status == Optimal && worth[j] > 0 && used[j] < c*(1-tol) {
			return fmt.Errorf("machine %d: only %v of %v used and worth %v", j, used[j], c, worth[j])
		}
	}
	demand, lambda, some := 0.0, math.Inf(1), false
	for i, a := range p.Alpha {
		demand += a * sol.Price[i]
		if a == 0 || out[i] {
			if sol.Price[i] != 0 || supply[i] != 0 {
				return fmt.Errorf("class %d is not in the problem and has price %v, supply %v", i, sol.Price[i], supply[i])
			}
			continue
		}
		some = true
		if sol.Status == Optimal && supply[i] == 0 {
			return fmt.Errorf("class %d has arrivals and no machine", i)
		}
		lambda = min(lambda, supply[i]/a)
		// All that there is to give is worth lambda; a surplus worth 1e-13 of that is rounding.
		surplus := supply[i] - sol.Lambda*a
		if sol.Status == Optimal && surplus*sol.Price[i] > 1e-13*sol.Lambda && surplus > tol*sol.Lambda*a {
			return fmt.Errorf("class %d has price %v and surplus: %v for %v", i, sol.Price[i], supply[i], sol.Lambda*a)
		}
	}
	if !some {
		if sol.Status == Optimal || sol.Status == PivotCap || len(sol.Delta) > 0 {
			return fmt.Errorf("nothing to solve, and %v with %d shares", sol.Status, len(sol.Delta))
		}
		return nil
	}
	var bound float64
	for j, c := range p.Cap {
		bound += c * worth[j]
	}
	if math.Abs(demand-1) > 1e-9 {
		return fmt.Errorf("Σ alpha·y = %v", demand)
	}
	if math.Abs(lambda-sol.Lambda) > 1e-9*lambda {
		return fmt.Errorf("Lambda %v, shares support %v", sol.Lambda, lambda)
	}
	if sol.Status == PivotCap {
		if bound > sol.Bound*(1+1e-9) || sol.Lambda > sol.Bound*(1+1e-9) {
			return fmt.Errorf("Lambda %v, Bound %v, prices prove %v", sol.Lambda, sol.Bound, bound)
		}
		return nil
	}
	if sol.Status != Optimal {
		return fmt.Errorf("status %v", sol.Status)
	}
	if math.Abs(bound-lambda) > tol*lambda || math.Abs(sol.Bound-lambda) > tol*lambda {
		return fmt.Errorf("primal %v, dual %v, Bound %v", lambda, bound, sol.Bound)
	}
	if len(sol.Delta) > n+m-1 {
		return fmt.Errorf("%d shares, a vertex has at most %d", len(sol.Delta), n+m-1)
	}
	return nil
}

// oracle solves the problem with gonum's dense simplex, which starts from the slack basis. Classes
// without arrivals or machines are left out, as ours does.
func oracle(p *Problem) (float64, error) {
	c, a, b, basic := dense(p)
	z, _, err := lp.Simplex(c, a, b, 1e-11, basic)
	return -z, err
}

func dense(p *Problem) (c []float64, a *mat.Dense, b []float64, basic []int) {
	m := len(p.Cap)
	var rows []int
	for i, x := range p.Alpha {
		for j := range m {
			if x > 0 && p.Cap[j] > 0 && p.Mu[i*m+j] > 0 {
				rows = append(rows, i)
				break
			}
		}
	}
	n := len(rows)
	cols := n*m + 1 + n + m
	a = mat.NewDense(n+m, cols, nil)
	b = make([]float64, n+m)
	c = make([]float64, cols)
	c[n*m] = -1
	for k, i := range rows {
		for j := range m {
			a.Set(k, k*m+j, -p.Mu[i*m+j])
			a.Set(n+j, k*m+j, 1)
		}
		a.Set(k, n*m, p.Alpha[i])
		a.Set(k, n*m+1+k, 1)
		basic = append(basic, n*m+1+k)
	}
	for j := range m {
		a.Set(n+j, n*m+1+n+j, 1)
		b[n+j] = p.Cap[j]
		basic = append(basic, n*m+1+n+j)
	}
	return c, a, b, basic
}
