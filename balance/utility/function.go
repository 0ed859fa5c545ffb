package utility

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Function is a utility function.
type Function struct {
	Terms   []Term
	Combine string     // Sum, Mean or Product
	Outer   Normaliser // of what is combined; its zero value leaves it
}

// Term is a part of a function.
type Term struct {
	Metrics []string // what is added up before it is normalised
	Weight  float64  // from 0 on; of a product the exponent
	Norm    Normaliser
}

// How terms are combined.
const (
	Sum     = "sum"     // Σ w S(x)
	Mean    = "mean"    // Σ w S(x) / Σ w [1, equation 4.1]
	Product = "product" // Π S(x)^w
)

var combinations = []string{Sum, Mean, Product}

// mostTerms bounds the terms of a function, and the metrics of a term.
const mostTerms = 16

// Check reports what a function cannot have, all at once: the term, its value, and what would be right.
func (u *Function) Check() error {
	var errs []error
	if u.Combine != Sum && u.Combine != Mean && u.Combine != Product {
		errs = append(errs, fmt.Errorf("combine: %.40q: want one of %s", u.Combine, strings.Join(combinations, ", ")))
	}
	if len(u.Terms) == 0 || len(u.Terms) > mostTerms {
		errs = append(errs, fmt.Errorf("terms: there are %d: want 1 to %d", len(u.Terms), mostTerms))
	}
	weights := 0.0
	for k := range u.Terms {
		if err := u.Terms[k].check(); err != nil {
			errs = append(errs, fmt.Errorf("terms[%d]: %w", k, err))
		}
		weights += u.Terms[k].Weight
	}
	if errs == nil && weights == 0 {
		errs = append(errs, errors.New("terms: all weights are 0: want one above 0"))
	}
	if u.Outer.Kind == Max || u.Outer.Kind == SigmoidMax {
		errs = append(errs, fmt.Errorf(
			"outer: %q: needs the largest of all: want identity, sigmoid:ALPHA or sigmoid_one:ALPHA", u.Outer))
	}
	return errors.Join(errs...)
}

func (t *Term) check() error {
	var errs []error
	if len(t.Metrics) == 0 || len(t.Metrics) > mostTerms {
		errs = append(errs, fmt.Errorf("metric: there are %d: want 1 to %d", len(t.Metrics), mostTerms))
	}
	for _, m := range t.Metrics {
		if metric(m) == nil {
			errs = append(errs, fmt.Errorf("metric: %.40q is not known: want one of %s", m, strings.Join(Names(), ", ")))
		}
	}
	if !(t.Weight >= 0 && t.Weight <= math.MaxFloat32) {
		errs = append(errs, fmt.Errorf("weight: %v: want a number from 0 on, as in 0.6", t.Weight))
	}
	return errors.Join(errs...)
}

// Names are those of the metrics.
func Names() (out []string) {
	for _, m := range Metrics {
		out = append(out, m.Name)
	}
	return out
}

// Cycle values options that are compared with each other. Its zero value has no function: see [Cycle.Begin].
type Cycle struct {
	function *Function
	metrics  [][]*Metric // of each term
	needs    bool        // of the largest figures
	most     []float64   // of each term: the largest figure
}

// Begin begins with a function that [Function.Check] has passed.
func (c *Cycle) Begin(u *Function) {
	c.most = append(c.most[:0], make([]float64, len(u.Terms))...)
	if c.function == u {
		return
	}
	c.function, c.metrics, c.needs = u, c.metrics[:0], false
	for k := range u.Terms {
		var of []*Metric
		for _, name := range u.Terms[k].Metrics {
			of = append(of, metric(name))
		}
		c.metrics = append(c.metrics, of)
		kind := u.Terms[k].Norm.Kind
		c.needs = c.needs || kind == Max || kind == SigmoidMax
	}
}

// See tells of an option that will be compared. All have to be seen before one is valued.
func (c *Cycle) See(f *Facts) {
	if !c.needs {
		return
	}
	for k := range c.most {
		c.most[k] = max(c.most[k], c.figure(k, f))
	}
}

// figure is what a term is about.
func (c *Cycle) figure(term int, f *Facts) (sum float64) {
	for _, m := range c.metrics[term] {
		sum += sane(m.Of(f))
	}
	return sum
}

// Of is the utility of an option.
func (c *Cycle) Of(f *Facts) float64 {
	u, sum, product, weights := c.function, 0.0, 1.0, 0.0
	for k := range u.Terms {
		t := &u.Terms[k]
		if t.Weight == 0 {
			continue
		}
		x := t.Norm.Of(c.figure(k, f), c.most[k])
		sum, weights = sum+t.Weight*x, weights+t.Weight
		if t.Weight == 1 {
			product *= x
		} else if u.Combine == Product {
			product *= math.Pow(x, t.Weight)
		}
	}
	switch u.Combine {
	case Product:
		sum = product
	case Mean:
		sum /= weights
	}
	return sane(u.Outer.Of(sum, 0))
}
