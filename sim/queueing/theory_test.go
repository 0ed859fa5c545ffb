package queueing

import (
	"math"
	"testing"
)

// closed runs a system and compares W with what theory says.
func closed(t *testing.T, s *System, policy string, units, want, within float64) {
	t.Helper()
	r := mustRun(t, s, Options{Policies: []string{policy}, Time: units, Warmup: units / 100, Replications: 4})
	if x := r.Results[0]; !x.Stable || !near(x.W.Mean, want, within) {
		t.Errorf("%s, %s: W %.4f ± %.4f, want %.4f within %.1f %%", s.Name, policy, x.W.Mean, x.W.Half, want, 100*within)
	}
}

// M/M/1: W = 1/(mu − lambda) [4, section 3.2], whoever decides and whether tasks are pushed or taken.
func TestMM1(t *testing.T) {
	for _, policy := range []string{"mct", "lpas", "lpas_dec", "met", "fcfs", "lpas_dg"} {
		closed(t, simple(0.7, 1, 1), policy, 200_000, 1/0.3, 0.03)
	}
}

// erlangC is the mean time in an M/M/c queue [4, section 3.5].
func erlangC(alpha, mu float64, c int) float64 {
	a := alpha / mu
	sum, term := 0.0, 1.0
	for k := range c {
		sum += term
		term *= a / float64(k+1)
	}
	rho := a / float64(c)
	wait := term / (1 - rho)
	return wait/(sum+wait)/(float64(c)*mu-alpha) + 1/mu
}

// M/M/c: one queue, from which idle machines take.
func TestMMc(t *testing.T) {
	closed(t, simple(1.6, 1, 2), "fcfs", 100_000, erlangC(1.6, 1, 2), 0.02)
	closed(t, simple(4, 1, 5), "gcmu", 50_000, erlangC(4, 1, 5), 0.02)
	closed(t, simple(8.5, 1, 10), "lpas_dg", 30_000, erlangC(8.5, 1, 10), 0.02)
}

// M/G/1: W = 1/mu + lambda·(1 + SCV)/(2·mu²·(1 − rho)) [4, section 5.6].
func TestMG1(t *testing.T) {
	for _, d := range []Distribution{{Kind: Deterministic}, {Hyperexponential, 4, 0}, {Uniform, 1, 3}, {Weibull, 0.7, 0}} {
		s := simple(1.2, 2, 1)
		s.Service = d
		want := 0.5 + 1.2*(1+d.SCV())/(2*4*(1-0.6))
		closed(t, s, "mct", 200_000, want, 0.03)
	}
}

// Several classes on one machine: all wait alike, and are executed at their own rates.
func TestClasses(t *testing.T) {
	s := single("two classes", []float64{0.5, 0.1}, []float64{2}, []float64{0.25})
	r := mustRun(t, s, Options{Policies: []string{"mct"}, Time: 200_000, Replications: 4})
	wait := (0.5*2/4 + 0.1*2/0.0625) / (2 * (1 - 0.65))
	for i, mu := range []float64{2, 0.25} {
		if got := r.Results[0].ByClass[i].Mean; !near(got, wait+1/mu, 0.03) {
			t.Errorf("class %d: W %.3f, want %.3f", i+1, got, wait+1/mu)
		}
	}
}

// Joining the shortest of c queues is worse than one queue for all and better than any queue; two choices lie
// between.
func TestShortestQueue(t *testing.T) {
	const c, rho = 5, 0.85
	r := mustRun(t, simple(c*rho, 1, c), Options{Policies: []string{"mct", "two_choices", "random"}, Time: 30_000,
		Replications: 4})
	shortest, two, any := float64(r.Results[0].W.Mean), float64(r.Results[1].W.Mean), float64(r.Results[2].W.Mean)
	one := erlangC(c*rho, 1, c)
	if !(one < shortest && shortest < 1.35*one && 1.1*shortest < two && two < any/2) {
		t.Errorf("W one queue %.3f, shortest %.3f, two choices %.3f, any %.3f: want rising", one, shortest, two, any)
	}
	if want := 1 / (1 - rho); math.Abs(any-want) > 0.04*want {
		t.Errorf("any queue: W %.3f, want that of M/M/1, %.3f", any, want)
	}
}

// A server with exponential breakdowns that memoryless work does not notice (H. White, L. S. Christie,
// Queuing with preemptive priorities or with breakdown, Operations Research 6(1), 1958):
//
//	L = lambda·((f+r)² + mu·f) / ((f+r)·(mu·r − lambda·(f+r))),  r = 1/mean fault.
func TestBreakdowns(t *testing.T) {
	const lambda, mu, f, r = 0.5, 1.0, 0.05, 0.25
	s := simple(lambda, mu, 1)
	s.Failures = []Failures{{Rate: f, MeanFault: 1 / r}}
	want := ((f+r)*(f+r) + mu*f) / ((f + r) * (mu*r - lambda*(f+r)))
	for _, policy := range []string{"mct", "fcfs"} {
		closed(t, s, policy, 200_000, want, 0.04)
	}
}

// A machine that is half there is one of half the rate; so is one that is all or little there by turns that
// are short.
func TestAvailability(t *testing.T) {
	s := simple(0.3, 1, 1)
	s.Availability = []Availability{{Fixed: 0.5}}
	for _, policy := range []string{"mct", "fcfs", "lpas_dg"} {
		closed(t, s, policy, 200_000, 1/(0.5-0.3), 0.03)
	}
	s.Availability = []Availability{{Chain: &Chain{Values: []float64{0.9, 0.1},
		Matrix: [][]float64{{0.5, 0.5}, {0.5, 0.5}}, Step: 0.02}}}
	closed(t, s, "mct", 50_000, 1/(0.5-0.3), 0.05)
}

// Late information: a poll, an answer and a move put off each task by three delays, and Poisson arrivals stay
// Poisson.
func TestDelay(t *testing.T) {
	s := simple(0.5, 1, 1)
	s.Delay = 0.4
	closed(t, s, "mct", 100_000, 2+3*0.4, 0.03)
	closed(t, s, "met", 100_000, 2+0.4, 0.03)
	closed(t, s, "lpas_dec", 100_000, 2, 0.03) // the one machine decides for itself
}

// The later the news, the less the earliest answer is worth; messages stay the same.
func TestDelayHurts(t *testing.T) {
	last := Number(0)
	for _, delay := range []float64{0, 0.1, 0.5} {
		s := system4A(false)
		s.Delay = delay
		r := mustRun(t, s, Options{Policies: []string{"lpas_dec"}, Time: 3000})
		x := r.Results[0]
		if x.W.Mean < last || !near(x.Messages.Remote, 4.178, 0.01) {
			t.Errorf("delay %g: W %.4f, before %.4f; %.3f messages, want 4.178", delay, x.W.Mean, last, x.Messages.Remote)
		}
		last = x.W.Mean
	}
}

// LP-Static leaves each machine an M/G/1 queue of its own: 2.C2 holds 24.233 tasks.
func TestLPStatic(t *testing.T) {
	r := mustRun(t, system2C2(), Options{Policies: []string{"lp_static"}, Time: 2500, Warmup: 50, Replications: 4})
	if x := r.Results[0]; !near(x.Q.Mean, 24.233, 0.015) || x.Messages.All != 0 {
		t.Errorf("Q %.3f ± %.3f, want 24.233 within 1.5 %%; %g messages, want none", x.Q.Mean, x.Q.Half, x.Messages.All)
	}
}

func TestMoments(t *testing.T) {
	for _, d := range []Distribution{{}, {Kind: Deterministic}, {Hyperexponential, 5, 0}, {Uniform, 0, 1}, {Uniform, 2, 3},
		{Weibull, 0.6, 0}, {Weibull, 2, 0}} {
		r := stream(1, 0, 0)
		const n = 400_000
		var sum, squares float64
		for range n {
			x := d.Draw(r)
			sum += x
			squares += x * x
		}
		mean := sum / n
		if scv := squares/n/(mean*mean) - 1; math.Abs(mean-1) > 0.02 || math.Abs(scv-d.SCV()) > 0.05*(1+d.SCV()) {
			t.Errorf("%+v: mean %.3f, SCV %.3f, want 1 and %.3f", d, mean, scv, d.SCV())
		}
	}
}

// SCV is the squared coefficient of variation.
func (d Distribution) SCV() float64 {
	switch d.Kind {
	case Exponential:
		return 1
	case Hyperexponential:
		return d.A
	case Uniform:
		return (d.B - d.A) * (d.B - d.A) / (3 * (d.A + d.B) * (d.A + d.B))
	case Weibull:
		g := math.Gamma(1 + 1/d.A)
		return math.Gamma(1+2/d.A)/(g*g) - 1
	}
	return 0
}
