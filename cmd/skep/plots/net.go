package plots

import (
	"fmt"
	"os"
	"path/filepath"

	"skep/sim/chart"
	"skep/sim/net"
)

// plotPoints is the number of points of a plotted distribution.
const plotPoints = 200

// plot is a chart and the name of its file.
type plot struct {
	name string
	c    *chart.Chart
}

// Net writes a report's charts into a folder.
func Net(dir string, r *net.Report) error {
	times := chart.Chart{Title: r.Scenario + ": completion times", X: "seconds, logarithmic",
		Y: "share of tasks done by then", LogX: true}
	for _, d := range r.Curves {
		times.Curves = append(times.Curves, distributionCurve(d))
	}
	messages := chart.Chart{Title: r.Scenario + ": messages a task", X: "kind", Y: "messages"}
	for _, k := range r.Messages {
		messages.Bars = append(messages.Bars, chart.Bar{Name: k.Kind, Value: k.PerTask.Mean, Half: k.PerTask.Half})
	}
	ages := chart.Chart{Title: r.Scenario + ": age of what nodes know", X: "hops it came", Y: "seconds"}
	errs := chart.Chart{Title: r.Scenario + ": error of what nodes know", X: "hops it came", Y: "difference, 0 to 1"}
	for _, v := range r.View {
		name := fmt.Sprint(v.Hops)
		ages.Bars = append(ages.Bars, chart.Bar{Name: name, Value: v.Age.Mean, Half: v.Age.Half})
		errs.Bars = append(errs.Bars, chart.Bar{Name: name, Value: v.Error.Mean, Half: v.Error.Half})
	}
	charts := []plot{{"completion", &times}, {"messages", &messages}, {"view-age", &ages}, {"view-error", &errs}}
	if !r.Stable {
		charts = charts[1:]
	}
	return write(dir, charts)
}

// write writes charts into a folder, each as SVG and PNG.
func write(dir string, charts []plot) error {
	for _, p := range charts {
		picture, err := p.c.PNG()
		if err != nil {
			return err
		}
		for name, b := range map[string][]byte{p.name + ".svg": []byte(p.c.SVG()), p.name + ".png": picture} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func distributionCurve(d net.Distribution) chart.Curve {
	c := chart.Curve{Name: d.Class}
	n := len(d.Times)
	for k := range min(plotPoints, n) {
		i := k * (n - 1) / max(min(plotPoints, n)-1, 1)
		c.X = append(c.X, d.Times[i])
		c.Y = append(c.Y, float64(i+1)/float64(n))
	}
	return c
}
