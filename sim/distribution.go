package sim

import (
	"math"

	"skep/grid"
)

// Distribution draws a size with mean 1.
type Distribution func(r *grid.Rand) float64

// Deterministic is always 1.
func Deterministic() Distribution { return func(*grid.Rand) float64 { return 1 } }

// Exponential has a squared coefficient of variation of 1.
func Exponential() Distribution { return func(r *grid.Rand) float64 { return r.ExpFloat64() } }

// UniformSize lies between lo and 2 − lo, for lo in 0 … 1.
func UniformSize(lo float64) Distribution {
	return func(r *grid.Rand) float64 { return lo + (2-2*lo)*r.Float64() }
}

// Hyperexponential mixes two exponentials with balanced means, so that the squared coefficient of
// variation is scv, 1 or more: with probability p = (1 + √((scv−1)/(scv+1)))/2 the mean is 1/(2p), else
// 1/(2(1−p)).
func Hyperexponential(scv float64) Distribution {
	p := (1 + math.Sqrt((scv-1)/(scv+1))) / 2
	return func(r *grid.Rand) float64 {
		if r.Float64() < p {
			return r.ExpFloat64() / (2 * p)
		}
		return r.ExpFloat64() / (2 * (1 - p))
	}
}
