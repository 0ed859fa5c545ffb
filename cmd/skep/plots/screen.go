package plots

import (
	"skep/sim/chart"
	"skep/sim/net/factors"
)

// Screen writes the chart of a screening's effects into a folder.
func Screen(dir string, r *factors.Report) error {
	c := chart.Chart{Title: r.Scenario + ": what factors do to " + r.By, X: "factor",
		Y: "high less low, seconds"}
	for _, e := range r.Effects {
		c.Bars = append(c.Bars, chart.Bar{Name: e.Key, Value: e.Effect.Mean, Half: e.Effect.Half})
	}
	return write(dir, []plot{{"effects", &c}})
}
