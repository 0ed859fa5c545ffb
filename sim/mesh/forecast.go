package mesh

import (
	"math"
	"slices"
)

// window and smoothing are those of the forecasters.
const (
	window    = 5
	smoothing = 0.2
)

// Forecast predicts the next value of a series of measurements: the last one, the mean of all, the median of the last
// few, or an exponential smoothing, whichever would have had the least squared error so far. [1] takes the forecasts of
// a monitor and does not say how that makes them. It is NaN of no measurement.
func Forecast(series []float64) float64 {
	if len(series) == 0 {
		return math.NaN()
	}
	now := [4]float64{series[0], series[0], series[0], series[0]}
	var wrong [4]float64
	sum := 0.0
	for k, x := range series {
		if k > 0 {
			for f, y := range now {
				wrong[f] += (x - y) * (x - y)
			}
		}
		sum += x
		recent := slices.Sorted(slices.Values(series[max(0, k+1-window) : k+1]))
		now = [4]float64{x, sum / float64(k+1), recent[len(recent)/2], now[3] + smoothing*(x-now[3])}
	}
	best := 0
	for f := range wrong {
		if wrong[f] < wrong[best] {
			best = f
		}
	}
	return now[best]
}
