package sim

import (
	"math"
	"math/rand/v2"

	"skep/grid"
)

// Distribution draws a size with mean 1.
type Distribution func(r *grid.Rand) float64

// Deterministic always returns 1.
func Deterministic() Distribution { return func(*grid.Rand) float64 { return 1 } }

// Exponential returns the exponential distribution; its squared coefficient of variation is 1.
func Exponential() Distribution { return func(r *grid.Rand) float64 { return r.ExpFloat64() } }

// UniformSize is uniform between lo and 2 − lo, for lo in 0 … 1.
func UniformSize(lo float64) Distribution {
	return func(r *grid.Rand) float64 { return lo + (2-2*lo)*r.Float64() }
}

// LogUniform is uniform in the logarithm, over a factor of ratio, above 1: between a and ratio·a, with a = ln(ratio) /
// (ratio − 1).
func LogUniform(ratio float64) Distribution {
	least := math.Log(ratio) / (ratio - 1)
	return func(r *grid.Rand) float64 { return least * math.Pow(ratio, r.Float64()) }
}

// Hyperexponential mixes two exponentials with balanced means so that the squared coefficient of variation is scv, 1
// or more: with probability p = (1 + √((scv−1)/(scv+1)))/2 the mean is 1/(2p), else 1/(2(1−p)).
func Hyperexponential(scv float64) Distribution {
	p := (1 + math.Sqrt((scv-1)/(scv+1))) / 2
	return func(r *grid.Rand) float64 {
		if r.Float64() < p {
			return r.ExpFloat64() / (2 * p)
		}
		return r.ExpFloat64() / (2 * (1 - p))
	}
}

// draw draws the size of a task of a class.
func (m *Machine) draw(class string, r *grid.Rand) float64 {
	d := m.Size
	if own, ok := m.Sizes[class]; ok {
		d = own
	}
	if d == nil {
		return 1
	}
	return d(r)
}

// Sizes calls see with the class and the size of each task of the workload. The size does not depend on the node.
func (c *Config) Sizes(see func(class string, size float64)) {
	var source rand.PCG
	r := &grid.Rand{Rand: rand.New(&source)}
	task := uint64(0)
	for i := range c.Work {
		s := &c.Work[i]
		class := grid.ClassOf(s.Spec)
		for range s.Spec.Count {
			size := s.Size
			if size <= 0 {
				source.Seed(c.Seed, task)
				size = c.Machine.draw(class, r)
			}
			see(class, size)
			task++
		}
	}
}
