package paper

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"skep/discovery"
	"skep/sim/forwarding"
)

// walks is a study of request forwarding: worlds by name, and how long each is run under which strategies.
type walks struct {
	settings map[string]forwarding.Setting
	runs     []walkRun
	claims   []claim
	pictures []picture
}

// walkRun is a line of runs.csv of such a study.
type walkRun struct {
	scenario string
	policies []string
	perNode  [2]float64 // requests for each node: full, quick; 0 = not run
	seeds    [2]int
}

// loadWalks reads settings.csv, runs.csv and numbers.csv.
func loadWalks(from fs.FS, name string) (*walks, error) {
	w := &walks{settings: map[string]forwarding.Setting{}}
	err := errors.Join(
		table(from, path.Join(name, "settings.csv"), func(r record) error {
			s, err := r.setting()
			w.settings[r["scenario"]] = s
			return err
		}),
		table(from, path.Join(name, "runs.csv"), func(r record) error {
			x, err := r.walkRun()
			if _, is := w.settings[x.scenario]; !is {
				err = errors.Join(err, fmt.Errorf("scenario %q: want one of settings.csv", x.scenario))
			}
			w.runs = append(w.runs, x)
			return err
		}),
		table(from, path.Join(name, "numbers.csv"), func(r record) error {
			c, err := r.claim()
			w.claims = append(w.claims, c)
			return err
		}),
		table(from, path.Join(name, "curves.csv"), func(r record) error {
			p, err := r.picture()
			w.pictures = append(w.pictures, p)
			return err
		}))
	return w, errors.Join(err, w.check(name))
}

// check reports numbers that no run would give.
func (w *walks) check(name string) error {
	var errs []error
	for k := range w.pictures {
		p := &w.pictures[k]
		_, points := p.plans(w.nodes, 0)
		if metrics[p.y] == nil || !slices.ContainsFunc(slices.Concat(points...),
			func(x plan) bool { return w.isRun(x.key) }) {
			errs = append(errs, fmt.Errorf("%s/curves.csv: %s: %s is not known, or no point of it is run", name, p.name, p.y))
		}
	}
	for _, c := range w.claims {
		for _, policy := range c.needs() {
			if !w.isRun(key{c.Scenario, policy}) {
				errs = append(errs, fmt.Errorf("%s/numbers.csv: %s of %s needs a run under %s: want it in runs.csv", name, c.Metric,
					c.Scenario, policy))
			}
		}
	}
	return errors.Join(errs...)
}

func (w *walks) isRun(k key) bool {
	return slices.ContainsFunc(w.runs, func(r walkRun) bool {
		return r.scenario == k.scenario &&
			slices.Contains(r.policies, k.policy)
	})
}

func (w *walks) nodes(scenario string) int { return w.settings[scenario].Nodes }

// setting reads the column set: words and name=value, over what package forwarding has by default.
func (r record) setting() (forwarding.Setting, error) {
	s := forwarding.Defaults()
	var errs []error
	for _, word := range strings.Fields(r["set"]) {
		name, value, _ := strings.Cut(word, "=")
		x, err := strconv.ParseFloat(value, 64)
		if value == "" {
			x, err = 1, nil
		}
		if err != nil || !assign(&s, name, x) {
			errs = append(errs, fmt.Errorf("set %q: want what package forwarding or discovery is told, by name", word))
		}
	}
	return s, errors.Join(append(errs, s.Check())...)
}

// assign sets what a setting is told under a name.
func assign(s *forwarding.Setting, name string, x float64) bool {
	d := &s.Discovery
	for _, i := range []struct {
		name string
		at   *int
	}{{"nodes", &s.Nodes}, {"types", &s.Types}, {"rare", &s.Rare}, {"view", &s.View}, {"requests", &s.Requests},
		{"walkers", &d.Walkers}, {"hops", &d.Hops}, {"seen_max", &d.SeenMax}} {
		if i.name == name {
			*i.at = int(x)
			return true
		}
	}
	switch name {
	case "rich":
		s.Rich = true
	case "zipf":
		s.Zipf = true
	case "once":
		s.Once = true
	case "calls":
		s.Calls = true
	case "reverse_path":
		d.Reverse = true
	case "real": // what a node does by itself
		most := d.SeenMax
		*d = discovery.Defaults()
		d.SeenMax = most
	case "explore":
		d.Explore = x
	case "load":
		d.Load = x
	case "best_share":
		d.BestShare = x
	default:
		return false
	}
	return true
}

func (r record) walkRun() (x walkRun, err error) {
	x = walkRun{scenario: r["scenario"], policies: strings.Fields(r["policies"])}
	var errs []error
	for _, p := range x.policies {
		if !slices.Contains(discovery.Forwards(), p) {
			errs = append(errs, fmt.Errorf("policy %q: want one of %v", p, discovery.Forwards()))
		}
	}
	for k, prefix := range []string{"", "quick_"} {
		if r[prefix+"per_node"] == "" {
			continue
		}
		var err1, err2 error
		x.perNode[k], err1 = r.number(prefix + "per_node")
		x.seeds[k], err2 = strconv.Atoi(r[prefix+"replications"])
		errs = append(errs, err1, err2)
	}
	return x, errors.Join(errs...)
}

// run runs all, and judges the claims.
func (w *walks) run(ctx context.Context, o Options, r *Report) error {
	results := map[key][]*forwarding.Result{}
	total, done := 0.0, 0.0
	size := func(x *walkRun) float64 {
		return float64(w.settings[x.scenario].Nodes) * form(o.Full, x.perNode) * float64(form(o.Full, x.seeds))
	}
	for i := range w.runs {
		total += size(&w.runs[i]) * float64(len(w.runs[i].policies))
	}
	for i := range w.runs {
		x := &w.runs[i]
		for _, policy := range x.policies {
			for seed := range form(o.Full, x.seeds) {
				if ctx.Err() != nil {
					break
				}
				s := w.settings[x.scenario]
				s.Seed, s.Discovery.Forward = o.Seed+uint64(seed), policy
				if !s.Once {
					s.Requests = int(form(o.Full, x.perNode) * float64(s.Nodes))
				}
				part := size(x) / float64(form(o.Full, x.seeds))
				got, whole := forwarding.Run(s, func(p float64) bool {
					if o.Progress != nil {
						o.Progress(min((done+p*part)/total, 1))
					}
					return ctx.Err() != nil
				})
				if done += part; whole {
					results[key{x.scenario, policy}] = append(results[key{x.scenario, policy}], got)
				}
			}
		}
	}
	var lines []Line
	for i := range w.claims {
		lines = append(lines, w.claims[i].judge(results))
	}
	r.add(lines)
	for i := range w.pictures {
		r.Curves = append(r.Curves, w.pictures[i].draw(w.nodes, 0, func(k key, figure string) (measured, error) {
			c := claim{Scenario: k.scenario, Policy: k.policy, Metric: figure}
			mean, half, err := c.measure(results)
			return measured{mean: mean, half: half}, err
		}))
	}
	return ctx.Err()
}

// runWalks runs a study of request forwarding.
func (s *Study) runWalks(ctx context.Context, o Options) (*Report, error) {
	began := time.Now()
	r := &Report{Study: s.Name, Title: s.Title, Source: s.Source, Full: o.Full, Seed: o.Seed,
		Counts: map[Verdict]int{}, Apart: Tally{}}
	err := s.walks.run(ctx, o, r)
	r.Seconds = time.Since(began).Seconds()
	return r, err
}
