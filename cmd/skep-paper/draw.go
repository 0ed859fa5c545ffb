package main

import (
	"math"

	"skep/sim/chart"
	"skep/sim/paper"
)

// labels of the axes that a curve may have.
var labels = map[string]string{
	"arrivals":     "arrivals of all clusters, jobs a second",
	"load":         "load, 1/lambda*",
	"rates":        "largest relative error of the rates told",
	"availability": "largest relative error of the availabilities told",
	"links":        "distance, links of the overlay",
	"nodes":        "nodes",
}

// figures are what may be drawn over them; none is a completion time of a queueing system.
var figures = map[string]string{
	"":         "mean completion time, time units",
	"W":        "mean completion time, s",
	"per_ad":   "entries sent for each change",
	"bytes":    "bytes a node and second",
	"error":    "mean error of the load, share",
	"stale":    "age of the last news, s",
	"coverage": "known, share",
	"hops":     "hops",
	"success":  "requests met, share",
	"messages": "messages for each request",
	"busiest":  "messages on the busiest tenth, share",
}

// draw makes an SVG picture of a curve: means with their 95 % intervals. Where a system was not stable a line ends.
func draw(c *paper.Curve) string {
	log := wide(c)
	picture := chart.Chart{X: labels[c.X], Y: figures[c.Y], LogX: c.X == "nodes", LogY: log, Names: c.Names}
	for _, s := range c.Series {
		k := chart.Curve{Name: s.Policy, Points: len(c.Names) > 0}
		for _, x := range s.Points {
			if x.Stable && (!log || x.Mean > 0) {
				k.X, k.Y, k.Half = append(k.X, x.X), append(k.Y, x.Mean), append(k.Half, x.Half)
			}
		}
		if len(k.X) > 0 {
			picture.Curves = append(picture.Curves, k)
		}
	}
	return picture.SVG()
}

// wide reports whether the values differ by so much that only a logarithm shows them all: completion times do near the
// limit of a system.
func wide(c *paper.Curve) bool {
	low, high := math.Inf(1), 0.0
	for _, s := range c.Series {
		for _, x := range s.Points {
			if x.Stable {
				low, high = min(low, x.Mean), max(high, x.Mean)
			}
		}
	}
	return c.Y == "" || low > 0 && high > 20*low
}
