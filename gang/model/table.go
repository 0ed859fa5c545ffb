package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"skep/gang"
)

// Measurement is what an iteration took with a number of ranks, each with an equal share of the work.
type Measurement struct {
	Ranks   int
	Compute float64 // seconds of a rank
	Message float64 // seconds in which it communicated
}

// table is a model that was measured. Between two numbers of ranks it is linear in their number; of more or fewer ranks
// than were measured it says nothing.
type table struct {
	units  int
	speed  float64 // of the machines that were measured
	unit   float64 // memory, bytes
	margin float64
	rows   []Measurement // by ranks
}

// maxTable bounds the rows of a table.
const maxTable = 1024

func newTable(p parameters, rows []Measurement) (gang.Model, error) {
	t := &table{units: int(p["units"]), speed: p["speed"], unit: p["unit_memory"], margin: p["margin"],
		rows: slices.Clone(rows)}
	var errs []error
	if len(rows) == 0 || len(rows) > maxTable {
		errs = append(errs, fmt.Errorf("model table: %d measurements: want 1 to %d", len(rows), maxTable))
	}
	slices.SortStableFunc(t.rows, func(a, b Measurement) int { return a.Ranks - b.Ranks })
	for k, r := range t.rows {
		switch {
		case r.Ranks < 1 || !finite(r.Compute) || !finite(r.Message) || r.Compute == 0:
			errs = append(errs, fmt.Errorf("model table: %d ranks, compute %g s, message %g s: want a rank or more, and times",
				r.Ranks, r.Compute, r.Message))
		case k > 0 && t.rows[k-1].Ranks == r.Ranks:
			errs = append(errs, fmt.Errorf("model table: %d ranks are there twice: want each number once", r.Ranks))
		}
	}
	return t, errors.Join(errs...)
}

func finite(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }

// Units implements gang.Model.
func (t *table) Units() int { return t.units }

// at is what an iteration takes with p ranks; false where it was not measured.
func (t *table) at(p int) (Measurement, bool) {
	k, there := slices.BinarySearchFunc(t.rows, p, func(r Measurement, p int) int { return r.Ranks - p })
	switch {
	case there:
		return t.rows[k], true
	case k == 0 || k == len(t.rows):
		return Measurement{}, false
	}
	a, b := t.rows[k-1], t.rows[k]
	part := float64(p-a.Ranks) / float64(b.Ranks-a.Ranks)
	return Measurement{p, a.Compute + part*(b.Compute-a.Compute), a.Message + part*(b.Message-a.Message)}, true
}

// Costs implements gang.Model.
func (t *table) Costs(g *gang.Group, dst []gang.Cost) []gang.Cost {
	p := len(g.Places)
	m, known := t.at(p)
	for _, machine := range g.Places {
		c := gang.Cost{PerUnit: math.Inf(1), Fixed: math.Inf(1),
			Most: fits(g.Pool.PlaceMemory(machine), t.unit*(1+t.margin), t.units)}
		if known {
			c.PerUnit = m.Compute * float64(p) / float64(t.units) * t.speed / g.Pool.Machines[machine].Speed
			c.Fixed = m.Message
		}
		dst = append(dst, c)
	}
	return dst
}

// Predict implements gang.Model.
func (t *table) Predict(s *gang.Schedule) float64 { return slowest(s) }

// Bound implements gang.Bounder.
func (t *table) Bound(s *gang.Summary) float64 {
	m, known := t.at(s.Ranks)
	if !known || s.Memory < t.unit*(1+t.margin)*float64(t.units)*(1-1e-12) {
		return math.Inf(1)
	}
	return m.Compute*float64(s.Ranks)*t.speed/s.Speed + m.Message
}
