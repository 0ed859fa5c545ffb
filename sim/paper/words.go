package paper

import (
	"fmt"
	"math"
	"strings"

	"skep/sim/queueing"
)

// What the words of the sources mean here, in percent of the figure that is compared with. Each has one meaning in all
// studies.
const (
	marginal    = 5  // "differ marginally": by at most so much
	comparable  = 10 // "comparable", "similar": differ by at most so much; "slightly better": ahead, and comparable
	significant = 10 // "significantly better": ahead by so much or more, which is all that is not comparable
	muchPercent = 25 // "much", "far": ahead by so much or more
)

// relation is between two figures a and b of a claim: the gain 100·(1 − a/b), by how many percent a is less than b, is
// from low to high.
type relation struct{ low, high float64 }

// relations are how a claim is written: "cb_lis slightly < cb_rr".
var relations = map[string]relation{
	"<":               {math.SmallestNonzeroFloat64, math.Inf(1)},
	"slightly <":      {math.SmallestNonzeroFloat64, comparable},
	"significantly <": {significant, math.Inf(1)},
	"much <":          {muchPercent, math.Inf(1)},
	"comparable to":   {-comparable, comparable},
	"marginal to":     {-marginal, marginal},
}

// chain is a claim as "a < b much < c": its names, and the relation of each to the next.
type chain struct {
	names     []string
	relations []relation
}

func readChain(text string) (c chain, err error) {
	var words []string
	for _, w := range strings.Fields(text) {
		switch w {
		case "<", "to":
			name := strings.Join(append(words, w), " ")
			r, ok := relations[name]
			if !ok || len(c.names) != len(c.relations)+1 {
				return c, fmt.Errorf("value %q: no relation is called %q", text, name)
			}
			c.relations, words = append(c.relations, r), nil
		case "slightly", "significantly", "much", "comparable", "marginal":
			words = append(words, w)
		default:
			if len(words) > 0 || len(c.names) != len(c.relations) {
				return c, fmt.Errorf("value %q: want names with a relation between, as in a < b much < c", text)
			}
			c.names = append(c.names, w)
		}
	}
	if len(c.names) < 2 || len(words) > 0 || len(c.names) != len(c.relations)+1 {
		return c, fmt.Errorf("value %q: want two names or more, with a relation between, as in a < b", text)
	}
	return c, nil
}

// judge compares figures, the replications of each in the order of the names. Those of one number are of the same
// chance.
func (c *chain) judge(of [][]float64) measured {
	m := measured{verdict: Inside}
	var parts []string
	for k := range of {
		parts = append(parts, fmt.Sprintf("%.4g", average(of[k])))
		if k > 0 {
			gain, half := gainOver(of[k-1], of[k])
			m.verdict = worst(m.verdict, within(gain, half, c.relations[k-1].low, c.relations[k-1].high))
		}
	}
	m.text = strings.Join(parts, ", ")
	return m
}

// gainOver is by how many percent a is less than b, and the half-width of its 95 % interval: that of the differences of
// replications of one number where there are as many of both.
func gainOver(a, b []float64) (gain, half float64) {
	gain = 100 * (1 - average(a)/average(b))
	var d []float64
	for k := range min(len(a), len(b)) {
		d = append(d, 100*(1-a[k]/b[k]))
	}
	return gain, halfWidth(d)
}

func average(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// halfWidth is half of the 95 % interval of the mean of x, by Student's t; NaN of one.
func halfWidth(x []float64) float64 {
	n, mean, square := float64(len(x)), average(x), 0.0
	for _, v := range x {
		square += (v - mean) * (v - mean)
	}
	return queueing.Student(n-1) * math.Sqrt(square/(n-1)/n)
}
