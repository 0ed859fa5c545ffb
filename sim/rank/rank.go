package rank

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Failed says which ranks alternatives have that failed in a comparison.
type Failed int

const (
	// LastInOrder deals out the last ranks among them in their order, so that ranks are a permutation. Each row of ranks
	// in [1, Tables V.11 to V.14] has the sum of one.
	LastInOrder Failed = iota

	// AllLast gives each of them the number of alternatives, as the text of [1] says.
	AllLast
)

// Ranks ranks the figures of one comparison; NaN = it failed. Equal ones share the mean of their ranks.
func Ranks(figures []float64, failed Failed) []float64 {
	n := len(figures)
	by, out := make([]int, n), make([]float64, n)
	for k := range by {
		by[k] = k
	}
	slices.SortStableFunc(by, func(a, b int) int {
		switch x, y := figures[a], figures[b]; {
		case math.IsNaN(x) && math.IsNaN(y) || x == y:
			return 0
		case math.IsNaN(y) || x < y:
			return -1
		}
		return 1
	})
	for from := 0; from < n; {
		to := from + 1
		for to < n && figures[by[to]] == figures[by[from]] { // a NaN equals none
			to++
		}
		for _, k := range by[from:to] {
			out[k] = float64(from+1+to) / 2
			if failed == AllLast && math.IsNaN(figures[k]) {
				out[k] = float64(n)
			}
		}
		from = to
	}
	return out
}

// Degradations is by how many percent each figure is above the least; NaN of what failed.
func Degradations(figures []float64) []float64 {
	best := math.Inf(1)
	for _, x := range figures {
		if x < best {
			best = x
		}
	}
	out := make([]float64, len(figures))
	for k, x := range figures {
		if out[k] = 100 * (x - best) / best; x == best {
			out[k] = 0
		}
	}
	return out
}

// Mean is a mean with the half-width of its 95 % interval; of one value Half is 0 and of none Mean is NaN.
type Mean struct {
	Mean float64
	Half float64
}

// Score is how an alternative did in all comparisons.
type Score struct {
	Rank        Mean
	Degradation Mean // percent, of the comparisons in which it did not fail
	Figure      Mean // itself, of the same
	Failures    int
	Best        int // comparisons in which nothing was better
}

// Scores scores comparisons: a row each, a figure for each alternative.
func Scores(comparisons [][]float64, failed Failed) []Score {
	if len(comparisons) == 0 {
		return nil
	}
	out := make([]Score, len(comparisons[0]))
	ranks, degradations, figures := make([][]float64, len(out)), make([][]float64, len(out)), make([][]float64, len(out))
	for _, row := range comparisons {
		r, d := Ranks(row, failed), Degradations(row)
		for k, x := range row {
			ranks[k] = append(ranks[k], r[k])
			if math.IsNaN(x) {
				out[k].Failures++
				continue
			}
			if d[k] == 0 {
				out[k].Best++
			}
			degradations[k], figures[k] = append(degradations[k], d[k]), append(figures[k], x)
		}
	}
	for k := range out {
		out[k].Rank, out[k].Degradation, out[k].Figure = Of(ranks[k]), Of(degradations[k]), Of(figures[k])
	}
	return out
}

// Of is the mean of values with its interval.
func Of(x []float64) Mean {
	switch n := float64(len(x)); n {
	case 0:
		return Mean{Mean: math.NaN()}
	case 1:
		return Mean{Mean: x[0]}
	default:
		mean, deviation := stat.MeanStdDev(x, nil)
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975)
		return Mean{mean, t * deviation / math.Sqrt(n)}
	}
}
