package paper

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"skep/sim/queueing"
)

// curve is a line of curves.csv: completion times of one system as something about it changes.
type curve struct {
	name, title, scenario string
	policies              []string
	x                     string
	values                [2][]float64 // full, quick
	lengths               [2]length
}

// axes are what x may be.
var axes = []string{"load", "rates", "availability", "arrivals"}

func (r record) curve() (c curve, err error) {
	c = curve{name: r["curve"], title: r["title"], scenario: r["scenario"], policies: strings.Fields(r["policies"]),
		x: r["x"]}
	if !slices.Contains(axes, c.x) {
		err = fmt.Errorf("x %q: want one of %s", c.x, strings.Join(axes, ", "))
	}
	var err1, err2, err3 error
	c.values[0], err1 = r.numbers("values")
	c.values[1], err2 = r.numbers("quick_values")
	c.lengths, err3 = r.lengths()
	return c, errors.Join(err, err1, err2, err3)
}

// at is the system with x set. A load of x is arrivals x·lambda* times those of the system.
func (c *curve) at(s *queueing.System, x float64) *queueing.System {
	out := *s
	switch c.x {
	case "rates":
		out.Inaccuracy.Rates = x
	case "availability":
		out.Inaccuracy.Availability = x
	default:
		f := x * s.Lambda()
		out.Alpha = scaled(s.Alpha, f)
		if s.AlphaAt != nil {
			out.AlphaAt = nil
			for _, row := range s.AlphaAt {
				out.AlphaAt = append(out.AlphaAt, scaled(row, f))
			}
		}
	}
	return &out
}

func scaled(x []float64, f float64) (out []float64) {
	for _, a := range x {
		out = append(out, a*f)
	}
	return out
}

// Curve is what came of it.
type Curve struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	X      string   `json:"x"`               // load, rates, availability, arrivals, links, nodes or rule
	Y      string   `json:"y,omitempty"`     // the figure that is drawn; "" = completion time
	Names  []string `json:"names,omitempty"` // of the places 0, 1, …, where x is a rule
	Series []Series `json:"series"`
}

// Series is a curve of one policy, or of one scenario where x is a rule.
type Series struct {
	Policy string  `json:"policy"`
	Points []Point `json:"points"`
}

// Point is a mean with the half-width of its 95 % interval. Where the system was not
// stable there is none.
type Point struct {
	X      float64 `json:"x"`
	Stable bool    `json:"stable"`
	Mean   float64 `json:"mean"`
	Half   float64 `json:"half,omitempty"`
}

// add puts the results of one x to the series.
func (c *Curve) add(x float64, results []queueing.Result) {
	for k, r := range results {
		if k == len(c.Series) {
			c.Series = append(c.Series, Series{Policy: r.Policy})
		}
		p := Point{X: x, Stable: r.Stable}
		if r.Stable {
			p.Mean, p.Half = float64(r.W.Mean), float64(r.W.Half)
		}
		c.Series[k].Points = append(c.Series[k].Points, p)
	}
}
