package lpas

import (
	"math"
	"math/rand/v2"
)

// uniform is the standard instance: mu uniform in 0.1..10 with a tenth zeros, alpha in 0.5..2, caps in
// 0.5..1.
func uniform(seed uint64, n, m int) *Problem {
	r := rand.New(rand.NewPCG(seed, 0))
	p := &Problem{make([]float64, n), make([]float64, m), make([]float64, n*m)}
	for i := range p.Alpha {
		p.Alpha[i] = 0.5 + 1.5*r.Float64()
	}
	for j := range p.Cap {
		p.Cap[j] = 0.5 + 0.5*r.Float64()
	}
	for k := range p.Mu {
		if x := 0.1 + 9.9*r.Float64(); r.Float64() >= 0.1 {
			p.Mu[k] = x
		}
	}
	return p
}

// tied is degenerate: ten groups of identical machines, rates from {0, 1, 1, 2, 5}.
func tied(seed uint64, n, m int) *Problem {
	r := rand.New(rand.NewPCG(seed, 1))
	p := &Problem{make([]float64, n), make([]float64, m), make([]float64, n*m)}
	for i := range p.Alpha {
		p.Alpha[i] = 1
	}
	for j := range p.Cap {
		p.Cap[j] = 1
	}
	rates := [5]float64{0, 1, 1, 2, 5}
	for i := range n {
		var group [10]float64
		for g := range group {
			group[g] = rates[r.IntN(5)]
		}
		for j := range m {
			p.Mu[i*m+j] = group[j%10]
		}
	}
	return p
}

func empty(n, m int) *Problem {
	return &Problem{make([]float64, n), make([]float64, m), make([]float64, n*m)}
}

// draw makes a small problem of one of several kinds, at most 10×30, from a seed: well behaved; classes
// without arrivals and machines that are down; sparse, so that many classes are no bottleneck and some
// run nowhere; scales that differ by up to eighteen orders of magnitude; rates from {0, 1, 1, 2, 5} with
// demands and capacities that are equal, so that everything ties; the same with groups of identical
// machines.
func draw(seed uint64) *Problem {
	r := rand.New(rand.NewPCG(seed, 9))
	n, m := 1+r.IntN(10), 1+r.IntN(30)
	p := empty(n, m)
	kind := r.IntN(7)
	const (
		holes = 1 + iota
		sparse
		sparser
		scales
		equalParts
		integers
	)
	zeros := 0.0
	switch kind {
	case sparse:
		zeros = r.Float64()
	case sparser:
		zeros = 0.8 + 0.2*r.Float64()
	case scales, equalParts:
		zeros = r.Float64()
	}
	decades := func(n float64) float64 { return math.Pow(10, n*(r.Float64()-0.5)) }
	fill := func(x []float64) {
		for i := range x {
			x[i] = 0.5 + r.Float64()
			switch {
			case kind == holes && r.IntN(5) == 0:
				x[i] = 0
			case kind == equalParts:
				x[i] = 1
			case kind == scales:
				x[i] *= decades(8)
			}
		}
	}
	fill(p.Alpha)
	fill(p.Cap)
	for k := range p.Mu {
		x := 0.1 + 9.9*r.Float64()
		switch kind {
		case scales:
			x = decades(10)
		case equalParts, integers:
			x = [5]float64{0, 1, 1, 2, 5}[r.IntN(5)]
		}
		if r.Float64() >= zeros {
			p.Mu[k] = x
		}
	}
	if kind == equalParts && r.IntN(2) == 0 {
		for i := range n {
			row := p.Mu[i*m:][:m]
			for j := range row {
				row[j] = row[j%(1+m/4)]
			}
		}
	}
	return p
}
