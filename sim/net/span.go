package net

import (
	"math"
	"time"

	"skep/grid"
)

// Span draws durations: latencies, sessions.
type Span struct {
	Kind SpanKind
	A, B time.Duration // A is the mean, except of Uniform, which is between A and B
	Exp  float64       // shape of Weibull
}

// SpanKind is the distribution of a span.
type SpanKind uint8

// Distributions of spans. The zero value is none.
const (
	NoSpan SpanKind = iota
	Constant
	Uniform
	Exponential
	Weibull
)

func (s Span) draw(r *grid.Rand) time.Duration {
	switch s.Kind {
	case Constant:
		return s.A
	case Uniform:
		return s.A + time.Duration(r.Int64N(int64(s.B-s.A)+1))
	case Exponential:
		return grid.Seconds(s.A.Seconds() * r.ExpFloat64())
	case Weibull: // mean = scale · Γ(1 + 1/shape)
		return grid.Seconds(s.A.Seconds() / math.Gamma(1+1/s.Exp) * math.Pow(r.ExpFloat64(), 1/s.Exp))
	}
	return 0
}

// mean returns the expected duration.
func (s Span) mean() time.Duration {
	if s.Kind == Uniform {
		return s.A + (s.B-s.A)/2
	}
	return s.A
}
