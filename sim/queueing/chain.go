package queueing

import (
	"math"

	"skep/grid"
)

// walk is a chain made ready to be followed.
type walk struct {
	*Chain
	rows    [][]float64
	pi      []float64
	average float64
}

func newWalk(c *Chain) *walk {
	if c == nil {
		return nil
	}
	w := &walk{Chain: c, pi: c.stationary(), average: c.mean()}
	for k := range c.Values {
		w.rows = append(w.rows, c.row(k))
	}
	return w
}

// first draws a state of the stationary distribution.
func (w *walk) first(r *grid.Rand) int {
	u := r.Float64()
	for k, p := range w.pi {
		if u -= p; u < 0 {
			return k
		}
	}
	return len(w.pi) - 1
}

// stay is for how long a state lasts: a geometric number of steps, drawn at once.
func (w *walk) stay(state int, r *grid.Rand) float64 {
	p := w.rows[state][state]
	if p >= 1 {
		return math.Inf(1)
	}
	steps := 1.0
	if p > 0 {
		steps += math.Floor(-r.ExpFloat64() / math.Log(p))
	}
	return steps * w.Step
}

// leave draws the state after another.
func (w *walk) leave(state int, r *grid.Rand) int {
	row := w.rows[state]
	u := r.Float64() * (1 - row[state])
	to := state
	for k, p := range row {
		if k == state || p == 0 {
			continue
		}
		to = k
		if u -= p; u < 0 {
			break
		}
	}
	return to
}

// mean is that of the stationary distribution.
func (c *Chain) mean() float64 {
	sum := 0.0
	for k, p := range c.stationary() {
		sum += p * c.Values[k]
	}
	return sum
}

// stationary solves pi = pi·P by squaring (P+1)/2, which never alternates, until its rows agree. It is that
// of who starts in the last state.
func (c *Chain) stationary() []float64 {
	n := len(c.Values)
	p := make([][]float64, n)
	for k := range p {
		p[k] = c.row(k)
		for x := range p[k] {
			p[k][x] /= 2
		}
		p[k][k] += 0.5
	}
	for range 64 {
		p = squared(p)
	}
	return p[n-1]
}

// squared returns p·p, with rows that sum to 1 whatever the rounding.
func squared(p [][]float64) [][]float64 {
	q := make([][]float64, len(p))
	for a := range q {
		q[a] = make([]float64, len(p))
		total := 0.0
		for b := range p {
			for x := range p {
				q[a][b] += p[a][x] * p[x][b]
			}
			total += q[a][b]
		}
		for b := range q[a] {
			q[a][b] /= total
		}
	}
	return q
}

// row returns the probabilities out of a state, with sum 1. A row of zeros, of a state that is not used,
// leads to the last.
func (c *Chain) row(k int) []float64 {
	out := append([]float64(nil), c.Matrix[k]...)
	sum := 0.0
	for _, x := range out {
		sum += x
	}
	if sum == 0 {
		out[len(out)-1] = 1
		return out
	}
	for x := range out {
		out[x] /= sum
	}
	return out
}
