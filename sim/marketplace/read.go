package marketplace

import (
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"skep/balance/market"
	"skep/document"
)

// Read reads a system from a YAML file; name is the file's, for errors. What the file leaves out is as in [Default].
// The error has a line for everything that is wrong.
func Read(name string, b []byte) (*System, error) {
	r := &reader{Reader: document.Reader{Name: name}}
	body, err := r.Parse(b)
	if err != nil {
		return nil, err
	}
	s := Default()
	if body != nil {
		r.system(s, body)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

type reader struct{ document.Reader }

// keys are the readers of the values of a mapping.
type keys map[string]func(e document.Entry)

func (r *reader) mapping(n ast.Node, what string, known []string, read keys) {
	for _, e := range r.Mapping(n, what, known...) {
		read[e.Key](e)
	}
}

// number reads a number into one of these types.
func number[T int | float64](r *reader, dst *T) func(document.Entry) {
	return func(e document.Entry) {
		r.Value(e, func(t string) error {
			x, err := strconv.ParseFloat(t, 64)
			if err != nil || float64(T(x)) != x {
				return fmt.Errorf("%.40q: want a number%s", t, map[bool]string{true: " without a fraction"}[err == nil])
			}
			*dst = T(x)
			return nil
		})
	}
}

// pair reads two numbers.
func (r *reader) pair(dst *[2]float64) func(document.Entry) {
	return func(e document.Entry) {
		texts, x := r.Texts(e.Value, e.Key), [2]float64{}
		ok := len(texts) == len(x)
		for k := 0; ok && k < len(x); k++ {
			var err error
			x[k], err = strconv.ParseFloat(texts[k], 64)
			ok = err == nil
		}
		if !ok {
			r.At(e.Value, "%s: want two numbers, as in [0, 2]", e.Key)
			return
		}
		*dst = x
	}
}

func (r *reader) system(s *System, n ast.Node) {
	r.mapping(n, "system", []string{"name", "servers", "load", "background", "tasks", "delay", "per_size", "ahead",
		"owners", "reprice", "ageing", "readings", "judge_whole"}, keys{
		"name":     func(e document.Entry) { s.Name, _ = r.Text(e.Value, "name") },
		"load":     number(r, &s.Load),
		"delay":    number(r, &s.Delay),
		"per_size": number(r, &s.PerSize),
		"ahead":    number(r, &s.Ahead),
		"owners":   number(r, &s.Owners),
		"reprice":  number(r, &s.Reprice),
		"servers": func(e document.Entry) {
			r.mapping(e.Value, e.Key, []string{"count", "speed", "units", "ratio"}, keys{
				"count": number(r, &s.Servers.Count), "speed": number(r, &s.Servers.Speed),
				"units": number(r, &s.Servers.Units), "ratio": number(r, &s.Servers.Ratio)})
		},
		"background": func(e document.Entry) {
			r.mapping(e.Value, e.Key, []string{"share", "size", "units"}, keys{
				"share": number(r, &s.Background.Share), "size": number(r, &s.Background.Size),
				"units": number(r, &s.Background.Units)})
		},
		"tasks": func(e document.Entry) { r.tasks(&s.Tasks, e) },
		"ageing": func(e document.Entry) {
			s.Ageing = &Ageing{Interval: 0.1, Time: 10, Max: s.Tasks.Weights[1]}
			r.mapping(e.Value, e.Key, []string{"interval", "time", "max"}, keys{
				"interval": number(r, &s.Ageing.Interval), "time": number(r, &s.Ageing.Time),
				"max": number(r, &s.Ageing.Max)})
		},
		"readings": func(e document.Entry) { r.readings(&s.Readings, e.Value) },
		"judge_whole": func(e document.Entry) { // of files from before there were readings
			r.Value(e, func(t string) error {
				whole, err := document.ParseBool(t)
				if whole {
					s.Readings.Deadlines = market.ByWhole
				}
				return err
			})
		},
	})
}

func (r *reader) tasks(t *Tasks, e document.Entry) {
	r.mapping(e.Value, e.Key, []string{"spread", "weights", "burst", "deadline"}, keys{
		"spread": number(r, &t.Spread), "weights": r.pair(&t.Weights), "burst": number(r, &t.Burst),
		"deadline": func(e document.Entry) {
			r.mapping(e.Value, e.Key, []string{"factor", "slow1", "slow2"}, keys{
				"factor": number(r, &t.Factor), "slow1": number(r, &t.Slow1), "slow2": r.pair(&t.Slow2)})
		}})
}
