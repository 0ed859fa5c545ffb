package model

import (
	"math"

	"skep/gang"
)

// mesh is what the models of mesh programs have in common.
type mesh struct {
	n           int     // points on a side; rows are the units
	pointMemory float64 // bytes
	margin      float64 // part of the memory that is wanted besides
	pointCost   float64 // work of a point in an iteration, in the unit of which a place's speed is so much a second
	valueBytes  float64 // of a message, for each point
	latency     float64 // by how much latencies count: 0 = messages take what bandwidth makes them take [1, IV.10]
}

// Units implements gang.Model: rows.
func (m *mesh) Units() int { return m.n }

// row is the memory that a row wants, bytes, margin included.
func (m *mesh) row() float64 { return m.pointMemory * float64(m.n) * (1 + m.margin) }

// fits is how many units of so much memory each, margin included, a rank's memory holds; all of them where none is
// needed.
func fits(memory, unit float64, units int) float64 {
	if unit == 0 {
		return float64(units)
	}
	return min(memory/unit, float64(units))
}

// place is the cost of a rank but for its messages.
func (m *mesh) place(p *gang.Pool, machine int) gang.Cost {
	return gang.Cost{PerUnit: m.pointCost * float64(m.n) / p.Machines[machine].Speed,
		Most: fits(p.PlaceMemory(machine), m.row(), m.n)}
}

// message is the time of one, in seconds.
func (m *mesh) message(p *gang.Pool, from, to int, bytes float64) float64 {
	return m.least(gang.Least{Latency: p.Latency(from, to), Inverse: p.Inverse(from, to)}, bytes)
}

// least bounds messages over links by what is known of the links.
func (m *mesh) least(l gang.Least, bytes float64) float64 {
	t := bytes * l.Inverse
	if m.latency > 0 {
		t += m.latency * l.Latency
	}
	return t
}

// work bounds the time of a group from below by its memory, and by n/v + Σ v_i·comm_i/v, where the v_i are rows a
// second and v is their sum: ranks that take T do v_i·(T − comm_i) rows, together all n. weighted is at most Σ
// v_i·comm_i.
func (m *mesh) work(s *gang.Summary, weighted float64) float64 {
	if s.Memory < m.row()*float64(m.n)*(1-1e-12) {
		return math.Inf(1)
	}
	return (m.pointCost*float64(m.n)*float64(m.n) + weighted) / s.Speed
}

// Predict implements gang.Model: the time of the slowest rank [1, IV.5].
func (m *mesh) Predict(s *gang.Schedule) float64 { return slowest(s) }

func slowest(s *gang.Schedule) (t float64) {
	for k, c := range s.Costs {
		x := c.Fixed
		if s.Shares[k] > 0 {
			x += c.PerUnit * s.Shares[k]
		}
		if !(x < math.Inf(1)) {
			return math.Inf(1)
		}
		t = max(t, x)
	}
	return t
}
