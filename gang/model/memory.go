package model

import (
	"math"

	"skep/gang"
)

// memory is a model of memory alone, for searches that compare schedules by their machines.
type memory struct {
	units  int
	unit   float64 // bytes
	margin float64
}

// Units implements gang.Model.
func (m *memory) Units() int { return m.units }

// Costs implements gang.Model.
func (m *memory) Costs(g *gang.Group, dst []gang.Cost) []gang.Cost {
	for _, machine := range g.Places {
		dst = append(dst, gang.Cost{Most: fits(g.Pool.PlaceMemory(machine), m.unit*(1+m.margin), m.units)})
	}
	return dst
}

// Predict implements gang.Model: nothing is known of times.
func (m *memory) Predict(*gang.Schedule) float64 { return math.NaN() }
