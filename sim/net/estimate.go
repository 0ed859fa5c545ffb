package net

import (
	"encoding/json"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Estimate is a mean and the half-width of its confidence interval; 0 = not known. The mean of nothing is NaN, null in
// JSON.
type Estimate struct {
	Mean float64 `json:"mean"`
	Half float64 `json:"half,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (e Estimate) MarshalJSON() ([]byte, error) {
	if math.IsNaN(e.Mean) {
		return []byte(`{"mean":null}`), nil
	}
	type plain Estimate
	return json.Marshal(plain(e))
}

// estimate returns the mean of x with its interval; values that are not finite are left out.
func estimate(x []float64) Estimate {
	x = slices.DeleteFunc(slices.Clone(x), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	n := float64(len(x))
	if n == 0 {
		return Estimate{Mean: math.NaN()}
	}
	var e Estimate
	for _, v := range x {
		e.Mean += v / n
	}
	if n < 2 {
		return e
	}
	squares := 0.0
	for _, v := range x {
		squares += (v - e.Mean) * (v - e.Mean)
	}
	e.Half = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975) * math.Sqrt(squares/(n-1)/n)
	return e
}

// EstimateOf returns the mean of x with its interval at 95 %; values that are not finite are left out.
func EstimateOf(x []float64) Estimate { return estimate(x) }

// over returns the estimate of a value of each sample.
func over(all []*sample, f func(m *sample) float64) Estimate {
	x := make([]float64, len(all))
	for k, m := range all {
		x[k] = f(m)
	}
	return estimate(x)
}
