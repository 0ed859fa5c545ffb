package queueing

import (
	"fmt"
	"math"
	"strings"

	"skep/balance"
)

// Problem is one thing that is wrong with a system.
type Problem struct {
	Path string // of what is wrong: a key, with indices behind it, as in mu[1][2]
	Text string
}

// Problems is everything that is wrong with a system.
type Problems []Problem

// Error is a line for each.
func (p Problems) Error() string {
	var lines []string
	for _, x := range p {
		lines = append(lines, x.Path+": "+x.Text)
	}
	return strings.Join(lines, "\n")
}

// Bounds of a system.
const (
	MaxClasses  = balance.MaxClasses
	MaxMachines = 100_000
	leastRate   = 1e-12
	mostRate    = 1e9
)

func (p *Problems) add(path, format string, args ...any) {
	*p = append(*p, Problem{path, fmt.Sprintf(format, args...)})
}

// Check returns everything that is wrong with a system; nothing if it can be run.
func (s *System) Check() Problems {
	var p Problems
	s.checkNames(&p)
	s.checkRates(&p)
	s.checkArrivals(&p)
	s.checkService(&p)
	s.checkFailures(&p)
	s.checkAvailability(&p)
	s.checkChanges(&p)
	s.checkMapping(&p)
	if !(s.Delay >= 0 && s.Delay <= MaxTime) {
		p.add("delay", "%g: want 0 or more time units", s.Delay)
	}
	if s.Ties != AtRandom && s.Ties != Lowest {
		p.add("ties", "%q: want lowest, or none for ties at random", s.Ties)
	}
	if s.Told != Nominal && s.Told != Corrected {
		p.add("told", "%q: want corrected, or none for the rates as they are", s.Told)
	}
	switch s.Decide {
	case ByDefault, ByMapper, ByMachines:
	default:
		p.add("decide", "%q: want mapper or machines", s.Decide)
	}
	return p
}

func (s *System) checkNames(p *Problems) {
	if n := len(s.Classes); n == 0 || n > MaxClasses {
		p.add("classes", "%d of them: want from 1 to %d", n, MaxClasses)
	}
	seen := map[string]bool{}
	for i, c := range s.Classes {
		if c == "" || seen[c] {
			p.add(fmt.Sprintf("classes[%d]", i), "%q: want a name that no other class has", c)
		}
		seen[c] = true
	}
	if len(s.Machines) == 0 {
		p.add("machines", "none: want one line or more")
	}
	for l, line := range s.Machines {
		if line.Count < 0 || line.Count > MaxMachines {
			p.add(fmt.Sprintf("machines[%d].count", l), "count %d: want from 1 to %d", line.Count, MaxMachines)
		}
		if line.Class != "" && !seen[line.Class] {
			p.add(fmt.Sprintf("machines[%d].class", l), "%q: want one of the classes, %s", line.Class,
				strings.Join(s.Classes, ", "))
		}
	}
	if m := s.Size(); m > MaxMachines {
		p.add("machines", "%d in all: want at most %d", m, MaxMachines)
	}
}

// matrix checks the shape and the rates of one.
func (s *System) matrix(p *Problems, path string, x [][]float64) bool {
	before := len(*p)
	if len(x) != len(s.Classes) {
		p.add(path, "%d rows for %d classes: want one for each", len(x), len(s.Classes))
	}
	for i, row := range x {
		if len(row) != len(s.Machines) {
			p.add(fmt.Sprintf("%s[%d]", path, i), "%d entries for %d machine lines: want one for each", len(row),
				len(s.Machines))
		}
		for l, r := range row {
			if !isRate(r) {
				p.add(fmt.Sprintf("%s[%d][%d]", path, i, l), "%g: want a rate, 0 or from %g to %g", r, leastRate, mostRate)
			}
		}
	}
	return len(*p) == before
}

func isRate(r float64) bool { return r == 0 || r >= leastRate && r <= mostRate }

func (s *System) checkRates(p *Problems) {
	s.matrix(p, "mu", s.Mu)
	for i, row := range s.Mu[:min(len(s.Mu), len(s.Classes))] {
		idle := 0
		for _, r := range row {
			if r == 0 {
				idle++
			}
		}
		if idle == len(row) {
			p.add(fmt.Sprintf("mu[%d]", i), "no machine runs class %s: want a rate above 0", s.Classes[i])
		}
	}
}

func (s *System) checkArrivals(p *Problems) {
	total := 0.0
	switch {
	case s.AlphaAt != nil:
		if !s.matrix(p, "alpha", s.AlphaAt) {
			return
		}
		for i := range s.AlphaAt {
			total += s.total(i)
		}
		if s.Decide == ByMapper {
			p.add("decide", "mapper, with arrivals at each machine: want alpha with one rate for each class")
		}
	default:
		if len(s.Alpha) != len(s.Classes) {
			p.add("alpha", "%d rates for %d classes: want one for each, or a row for each", len(s.Alpha), len(s.Classes))
			return
		}
		for i, a := range s.Alpha {
			if !isRate(a) {
				p.add(fmt.Sprintf("alpha[%d]", i), "%g: want a rate, 0 or from %g to %g", a, leastRate, mostRate)
			}
			total += math.Abs(a)
		}
	}
	if total == 0 {
		p.add("alpha", "nothing arrives: want a rate above 0")
	}
}

func (s *System) checkService(p *Problems) {
	if want, ok := s.Service.valid(); !ok {
		p.add("service", "%s", want)
	}
}

// CheckLoad reports a load that no policy can carry, nil if some can. The system has passed Check.
func (s *System) CheckLoad() Problems {
	if l := s.Lambda(); !stable(l) {
		return Problems{{"alpha",
			fmt.Sprintf("cannot be stable: lambda* is %.4g, that is a load of %.4g: want lambda* above 1",
				l, 1/math.Max(l, 1e-300))}}
	}
	return nil
}
