package queueing

import (
	"math"

	"skep/grid"
)

// Kind names a distribution.
type Kind uint8

// The distributions.
const (
	Exponential   Kind = iota
	Deterministic      // always the mean
	// a mix of two exponentials with balanced means; A is the squared coefficient of variation, 1 or more
	Hyperexponential
	Uniform // between A and B, 0 ≤ A < B, in proportion: scaled to the mean
	Weibull // of shape A, above 0
)

// Distribution is how a positive quantity varies around its mean. The zero value is exponential.
type Distribution struct {
	Kind Kind
	A, B float64
}

// Draw returns a value of a distribution with mean 1.
func (d *Distribution) Draw(r *grid.Rand) float64 {
	if d.Kind == Exponential {
		return r.ExpFloat64()
	}
	return d.other(r)
}

func (d *Distribution) other(r *grid.Rand) float64 {
	switch d.Kind {
	case Deterministic:
		return 1
	case Hyperexponential:
		// With probability p of mean 1/(2p), else of mean 1/(2(1−p)).
		p := (1 + math.Sqrt((d.A-1)/(d.A+1))) / 2
		if r.Float64() < p {
			return r.ExpFloat64() / (2 * p)
		}
		return r.ExpFloat64() / (2 * (1 - p))
	case Uniform:
		return 2 * (d.A + (d.B-d.A)*r.Float64()) / (d.A + d.B)
	case Weibull:
		// E^(1/shape) with E exponential has the mean Γ(1 + 1/shape).
		return math.Pow(r.ExpFloat64(), 1/d.A) / math.Gamma(1+1/d.A)
	}
	panic("queueing: a distribution of no known kind")
}

// valid reports whether the parameters are possible, and else what would be.
func (d Distribution) valid() (string, bool) {
	switch d.Kind {
	case Exponential, Deterministic:
		return "", true
	case Hyperexponential:
		return "want scv from 1 to 1000", d.A >= 1 && d.A <= 1000
	case Uniform:
		return "want [a, b] with 0 <= a < b", d.A >= 0 && d.A < d.B && d.B <= 1e9
	case Weibull:
		return "want a shape from 0.1 to 100", d.A >= 0.1 && d.A <= 100
	}
	return "is of no known kind", false
}
