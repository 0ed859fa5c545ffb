package queueing

import (
	"math"

	"github.com/goccy/go-yaml/ast"
)

// Read reads a system from a YAML file; name is the file's, for errors. The error has a line for
// everything that is wrong: what cannot be read, what Check says, and a load that cannot be carried. With an error
// the system is what could be read, nil where that is nothing.
func Read(name string, b []byte) (*System, error) {
	r := &reader{name: name, lines: map[string]int{}, unread: map[string]bool{}}
	body := r.body(b)
	if err := r.err(); err != nil {
		return nil, err
	}
	s := &System{}
	r.system(s, body)
	if r.unread[""] {
		return nil, r.err()
	}
	var problems Problems
	if !r.unread["classes"] && !r.unread["machines"] { // without which no shape can be judged
		problems = s.Check()
	}
	if len(problems) == 0 && len(r.errors) == 0 {
		problems = s.CheckLoad()
	}
	for _, p := range problems {
		if !r.follows(p.Path) {
			r.errors = append(r.errors, place{r.at(p.Path), p.Path + ": " + p.Text})
		}
	}
	return s, r.err()
}

func (r *reader) system(s *System, n ast.Node) {
	names := func(dst *[]string) func(string, ast.Node) {
		return func(path string, n ast.Node) {
			r.list(path, n, func(path string, n ast.Node) { *dst = append(*dst, r.text(path, n)) })
		}
	}
	known := []string{"name", "classes", "machines", "mu", "alpha", "decide", "service", "rate_changes", "failures",
		"availability",
		"announced", "availability_changes", "inaccuracy", "ties", "mapping", "delay",
		"told"}
	r.mapping("", n, known, keys{
		"name":                 func(p string, n ast.Node) { s.Name = r.text(p, n) },
		"classes":              names(&s.Classes),
		"machines":             func(p string, n ast.Node) { r.machines(s, p, n) },
		"mu":                   func(p string, n ast.Node) { s.Mu = r.rows(p, n) },
		"alpha":                func(p string, n ast.Node) { r.alpha(s, p, n) },
		"decide":               func(p string, n ast.Node) { s.Decide = Decider(r.text(p, n)) },
		"service":              func(p string, n ast.Node) { s.Service = r.distribution(p, n) },
		"rate_changes":         func(p string, n ast.Node) { s.RateChanges = r.rateChanges(p, n) },
		"failures":             func(p string, n ast.Node) { r.failures(s, p, n) },
		"availability":         func(p string, n ast.Node) { r.availability(s, p, n) },
		"announced":            func(p string, n ast.Node) { s.Announced = r.numbers(p, n) },
		"availability_changes": func(p string, n ast.Node) { s.AvailabilityChanges = r.availabilityChanges(p, n) },
		"inaccuracy":           func(p string, n ast.Node) { s.Inaccuracy = r.inaccuracy(p, n) },
		"ties":                 func(p string, n ast.Node) { s.Ties = Ties(r.text(p, n)) },
		"mapping":              func(p string, n ast.Node) { s.Mapping = r.mappingEvents(p, n) },
		"delay":                func(p string, n ast.Node) { s.Delay = r.number(p, n) },
		"told":                 func(p string, n ast.Node) { s.Told = Told(r.text(p, n)) },
	})
}

func (r *reader) machines(s *System, path string, n ast.Node) {
	r.list(path, n, func(path string, n ast.Node) {
		l := Line{Count: 1}
		r.mapping(path, n, []string{"name", "count", "class", "cluster"}, keys{
			"name":    func(p string, n ast.Node) { l.Name = r.text(p, n) },
			"class":   func(p string, n ast.Node) { l.Class = r.text(p, n) },
			"cluster": func(p string, n ast.Node) { l.Cluster = r.text(p, n) },
			"count": func(p string, n ast.Node) {
				x := r.number(p, n)
				if x != math.Trunc(x) || !(x >= 1 && x <= MaxMachines) {
					r.misread(p, n, "%g: want a whole number from 1 to %d", x, MaxMachines)
					return
				}
				l.Count = int(x)
			},
		})
		s.Machines = append(s.Machines, l)
	})
}

// alpha is a list of rates, or of lists.
func (r *reader) alpha(s *System, path string, n ast.Node) {
	if l, ok := n.(*ast.SequenceNode); ok && len(l.Values) > 0 {
		if _, ok := l.Values[0].(*ast.SequenceNode); ok {
			s.AlphaAt = r.rows(path, n)
			return
		}
	}
	s.Alpha = r.numbers(path, n)
}

const wantDistribution = "want exponential, deterministic, {hyperexponential: {scv: 2}}, {uniform: [a, b]} or " +
	"{weibull: {shape: 0.6}}"

// distribution is a name, or a name with a parameter.
func (r *reader) distribution(path string, n ast.Node) (d Distribution) {
	if s, ok := n.(*ast.StringNode); ok {
		switch s.Value {
		case "exponential":
			return Distribution{}
		case "deterministic":
			return Distribution{Kind: Deterministic}
		}
		r.misread(path, n, "%q: %s", s.Value, wantDistribution)
		return d
	}
	kinds, wrong := 0, len(r.errors)
	parameter := func(key string) func(string, ast.Node) {
		return func(p string, n ast.Node) {
			r.mapping(p, n, []string{key}, keys{key: func(p string, n ast.Node) { d.A = r.number(p, n) }})
		}
	}
	r.mapping(path, n, []string{"hyperexponential", "uniform", "weibull"}, keys{
		"hyperexponential": func(p string, n ast.Node) { kinds++; d.Kind = Hyperexponential; parameter("scv")(p, n) },
		"weibull":          func(p string, n ast.Node) { kinds++; d.Kind = Weibull; parameter("shape")(p, n) },
		"uniform": func(p string, n ast.Node) {
			kinds++
			d.Kind = Uniform
			if x := r.numbers(p, n); len(x) == 2 {
				d.A, d.B = x[0], x[1]
			} else {
				r.misread(path, n, "uniform: want two numbers, [a, b]")
			}
		},
	})
	if kinds != 1 && !r.unread[path] && len(r.errors) == wrong {
		r.misread(path, n, "%d distributions: %s", kinds, wantDistribution)
	}
	return d
}

func (r *reader) rateChanges(path string, n ast.Node) *RateChanges {
	c := &RateChanges{}
	r.mapping(path, n, []string{"mean_interval", "alpha", "mu"}, keys{
		"mean_interval": func(p string, n ast.Node) { c.MeanInterval = r.number(p, n) },
		"alpha":         func(p string, n ast.Node) { c.Alpha = r.numbers(p, n) },
		"mu":            func(p string, n ast.Node) { c.Mu = r.numbers(p, n) },
	})
	return c
}

// failures are those of all machines, or a list by line.
func (r *reader) failures(s *System, path string, n ast.Node) {
	one := func(path string, n ast.Node) {
		f := Failures{}
		rate, fault := false, false
		r.mapping(path, n, []string{"rate", "mean_fault", "up", "down"}, keys{
			"rate":       func(p string, n ast.Node) { rate = true; f.Rate = r.number(p, n) },
			"mean_fault": func(p string, n ast.Node) { fault = true; f.MeanFault = r.number(p, n) },
			"up":         func(p string, n ast.Node) { f.Up = r.distribution(p, n) },
			"down":       func(p string, n ast.Node) { f.Down = r.distribution(p, n) },
		})
		if !r.unread[path] && !(rate && fault) {
			r.wrong(n, "%s: want both rate, of faults while up, and mean_fault, the mean time down", path)
		}
		s.Failures = append(s.Failures, f)
	}
	if _, ok := n.(*ast.SequenceNode); ok {
		r.list(path, n, one)
		return
	}
	one(path, n)
}

func (r *reader) availability(s *System, path string, n ast.Node) {
	r.list(path, n, func(path string, n ast.Node) {
		switch n.(type) {
		case *ast.MappingNode, *ast.MappingValueNode:
			c := &Chain{}
			r.mapping(path, n, []string{"values", "matrix", "step"}, keys{
				"values": func(p string, n ast.Node) { c.Values = r.numbers(p, n) },
				"matrix": func(p string, n ast.Node) { c.Matrix = r.rows(p, n) },
				"step":   func(p string, n ast.Node) { c.Step = r.number(p, n) },
			})
			s.Availability = append(s.Availability, Availability{Chain: c})
		default:
			s.Availability = append(s.Availability, Availability{Fixed: r.number(path, n)})
		}
	})
}

func (r *reader) availabilityChanges(path string, n ast.Node) *AvailabilityChanges {
	c := &AvailabilityChanges{}
	r.mapping(path, n, []string{"mean_interval", "values"}, keys{
		"mean_interval": func(p string, n ast.Node) { c.MeanInterval = r.number(p, n) },
		"values":        func(p string, n ast.Node) { c.Values = r.numbers(p, n) },
	})
	return c
}

func (r *reader) inaccuracy(path string, n ast.Node) (x Inaccuracy) {
	r.mapping(path, n, []string{"rates", "availability", "redraw"}, keys{
		"rates":        func(p string, n ast.Node) { x.Rates = r.number(p, n) },
		"availability": func(p string, n ast.Node) { x.Availability = r.number(p, n) },
		"redraw": func(p string, n ast.Node) {
			switch t := r.text(p, n); t {
			case "change":
			case "message":
				x.EachMessage = true
			default:
				r.misread(p, n, "%q: want change or message", t)
			}
		},
	})
	return x
}
