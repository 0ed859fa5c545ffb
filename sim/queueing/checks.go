package queueing

import "fmt"

func (s *System) checkFailures(p *Problems) {
	if n := len(s.Failures); n > 1 && n != len(s.Machines) {
		p.add("failures", "%d entries for %d machine lines: want one, or one for each", n, len(s.Machines))
	}
	for k, f := range s.Failures {
		path := "failures"
		if len(s.Failures) > 1 {
			path = fmt.Sprintf("failures[%d]", k)
		}
		if !isRate(f.Rate) {
			p.add(path+".rate", "%g: want a rate, 0 or from %g to %g", f.Rate, leastRate, mostRate)
		}
		if !(f.MeanFault >= 0 && f.MeanFault <= MaxTime) {
			p.add(path+".mean_fault", "%g: want 0 or more time units", f.MeanFault)
		}
		if want, ok := f.Up.valid(); !ok {
			p.add(path+".up", "%s", want)
		}
		if want, ok := f.Down.valid(); !ok {
			p.add(path+".down", "%s", want)
		}
	}
}

func (s *System) checkAvailability(p *Problems) {
	if n := len(s.Availability); n > 0 && n != len(s.Machines) {
		p.add("availability", "%d entries for %d machine lines: want one for each", n, len(s.Machines))
	}
	for l, a := range s.Availability {
		path := fmt.Sprintf("availability[%d]", l)
		if a.Chain != nil {
			a.Chain.check(p, path)
		} else if !isPart(a.Fixed) {
			p.add(path, "%g: want a part above 0, up to 1", a.Fixed)
		}
	}
	if n := len(s.Announced); n > 0 && n != len(s.Machines) {
		p.add("announced", "%d entries for %d machine lines: want one for each", n, len(s.Machines))
	}
	for l, a := range s.Announced {
		if !isPart(a) {
			p.add(fmt.Sprintf("announced[%d]", l), "%g: want a part above 0, up to 1", a)
		}
	}
}

func isPart(a float64) bool { return a > 0 && a <= 1 }

func (c *Chain) check(p *Problems, path string) {
	if len(c.Values) == 0 || len(c.Values) > 16 {
		p.add(path+".values", "%d states: want from 1 to 16", len(c.Values))
	}
	for k, v := range c.Values {
		if !isPart(v) {
			p.add(fmt.Sprintf("%s.values[%d]", path, k), "%g: want a part above 0, up to 1", v)
		}
	}
	if len(c.Matrix) != len(c.Values) {
		p.add(path+".matrix", "%d rows for %d states: want one for each", len(c.Matrix), len(c.Values))
	}
	for k, row := range c.Matrix {
		at, sum := fmt.Sprintf("%s.matrix[%d]", path, k), 0.0
		if len(row) != len(c.Values) {
			p.add(at, "%d entries for %d states: want one for each", len(row), len(c.Values))
		}
		for x, q := range row {
			if !(q >= 0 && q <= 1) {
				p.add(fmt.Sprintf("%s[%d]", at, x), "%g: want a probability", q)
			}
			sum += q
		}
		if sum != 0 && !(sum > 0.99 && sum < 1.01) {
			p.add(at, "sums to %g: want 1, or 0 for a state that is not used", sum)
		}
	}
	if !(c.Step > 0 && c.Step <= MaxTime) {
		p.add(path+".step", "%g: want a time above 0", c.Step)
	}
}

func (s *System) checkChanges(p *Problems) {
	interval := func(path string, t float64) {
		if !(t > 0 && t <= MaxTime) {
			p.add(path+".mean_interval", "%g: want a time above 0", t)
		}
	}
	if c := s.RateChanges; c != nil {
		interval("rate_changes", c.MeanInterval)
		for _, f := range []struct {
			key  string
			list []float64
		}{{"alpha", c.Alpha}, {"mu", c.Mu}} {
			for k, x := range f.list {
				if !(x > 0 && x <= 1000) {
					p.add(fmt.Sprintf("rate_changes.%s[%d]", f.key, k), "%g: want a factor above 0, up to 1000", x)
				}
			}
		}
	}
	if c := s.AvailabilityChanges; c != nil {
		interval("availability_changes", c.MeanInterval)
		if len(c.Values) == 0 {
			p.add("availability_changes.values", "none: want one or more")
		}
		for k, v := range c.Values {
			if !isPart(v) {
				p.add(fmt.Sprintf("availability_changes.values[%d]", k), "%g: want a part above 0, up to 1", v)
			}
		}
	}
	if s.AvailabilityChanges != nil {
		for l, a := range s.Availability {
			if a.Chain != nil {
				p.add(fmt.Sprintf("availability[%d]", l), "a chain besides availability_changes: want one of the two")
			}
		}
	}
	if x := s.Inaccuracy.Rates; !(x >= 0 && x < 1) {
		p.add("inaccuracy.rates", "%g: want a part from 0 to below 1", x)
	}
	if x := s.Inaccuracy.Availability; !(x >= 0 && x <= 1) {
		p.add("inaccuracy.availability", "%g: want a part from 0 to 1", x)
	}
}
