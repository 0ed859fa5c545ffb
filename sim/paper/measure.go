package paper

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"skep/sim/queueing"
)

// measured is what we have for a printed number: an estimate, or words.
type measured struct {
	mean, half float64
	text       string
	holds      bool // of words
}

// errNone is where there is no run.
var errNone = errors.New("the quick form has no run of it, or it was interrupted before")

// measure looks a number up in the runs and the optima. The error says why there is none.
func (s *Study) measure(p *printed, results map[key]*ran, optima map[key]*optimum) (measured, error) {
	if p.rule == unrun {
		return measured{}, fmt.Errorf("%s", p.why)
	}
	if p.kind() == "allot" {
		text := s.grids[p.Scenario].Allotment()
		return measured{text: text, holds: text == p.text}, nil
	}
	needs := p.needs()
	if needs == nil {
		k := key{p.Scenario, p.Policy}
		if optima[k] == nil {
			optima[k] = solve(s.systems[p.Scenario], p.Policy)
		}
		x, err := optima[k].measure(p)
		return measured{mean: x}, err
	}
	var r []*ran
	for _, k := range p.keys() {
		x := results[k]
		if x == nil {
			return measured{}, errNone
		}
		r = append(r, x)
	}
	return p.from(r)
}

// from computes a number out of the results that it needs.
func (p *printed) from(r []*ran) (measured, error) {
	if r[0].figures != nil {
		return p.ofNews(r)
	}
	switch p.kind() {
	case "stable":
		word := map[bool]string{true: "stable", false: "unstable"}[r[0].Stable]
		return measured{text: word, holds: word == p.text}, nil
	case "order":
		return order(r), nil
	case "little":
		return measured{text: fmt.Sprintf("%.2g %%", 100*float64(r[0].Little)), holds: r[0].LittleHolds}, nil
	case "half":
		part := float64(r[0].W.Half / r[0].W.Mean)
		return measured{text: fmt.Sprintf("%.2g %%", 100*part), holds: part <= 0.05}, nil
	case "limit":
		return r[0].limit, nil
	case "ratios":
		return p.across(r, func(w, base float64) float64 { return base / w }), nil
	case "gaps":
		return p.across(r, func(w, base float64) float64 { return w - base }), nil
	case "asks":
		a, b := float64(r[0].Messages.Remote), float64(r[1].Messages.Remote)
		return measured{text: fmt.Sprintf("%.4g, mct %.4g", a, b), holds: a < b}, nil
	case "guarded":
		if g := r[0].Guarded; g != nil {
			return measured{mean: 100 * float64(g.Mean), half: 100 * float64(g.Half)}, nil
		}
		return measured{}, errNone
	case "messages":
		return p.saved(r[0], r[1]), nil
	}
	if !r[0].Stable || p.kind() == "improvement" && !r[1].Stable {
		return measured{text: "unstable"}, nil
	}
	switch p.kind() {
	case "Q":
		return measured{mean: float64(r[0].Q.Mean), half: float64(r[0].Q.Half)}, nil
	case "W":
		if p.rest() == "" {
			return measured{mean: float64(r[0].W.Mean), half: float64(r[0].W.Half)}, nil
		}
		for _, c := range r[0].ByClass {
			if c.Class == p.rest() {
				return measured{mean: float64(c.Mean), half: float64(c.Half)}, nil
			}
		}
	case "improvement":
		return improvement(r[0], r[1]), nil
	}
	return measured{}, fmt.Errorf("no metric is called %s", p.Metric)
}

// order tells the policies in the order of their completion times.
func order(r []*ran) measured {
	m := measured{holds: true}
	var parts []string
	for k, x := range r {
		m.holds = m.holds && (k == 0 || r[k-1].W.Mean < x.W.Mean)
		parts = append(parts, fmt.Sprintf("%.4g", float64(x.W.Mean)))
	}
	m.text = strings.Join(parts, ", ")
	return m
}

// across tells how a policy compares with another in one scenario after the other.
func (p *printed) across(r []*ran, f func(w, base float64) float64) measured {
	m := measured{holds: true}
	var parts []string
	last := math.Inf(-1)
	for k := 0; k < len(r); k += 2 {
		x := f(float64(r[k].W.Mean), float64(r[k+1].W.Mean))
		m.holds = m.holds && x > last
		last = x
		parts = append(parts, fmt.Sprintf("%.4g", x))
	}
	m.text = strings.Join(parts, ", ")
	return m
}

// improvement is (W_base − W) / W_base in percent. Its interval is that of the same tasks under both.
func improvement(x, base *ran) measured {
	mean := 100 * (1 - float64(x.W.Mean/base.W.Mean))
	var sum, square float64
	n := float64(len(x.Runs))
	for k := range x.Runs {
		d := 100*(1-x.Runs[k].W/base.Runs[k].W) - mean
		sum, square = sum+d, square+d*d
	}
	spread := math.Sqrt(max(square-sum*sum/n, 0) / (n - 1) / n)
	return measured{mean: mean, half: queueing.Student(n-1) * spread}
}

// saved is by how many percent fewer messages are sent than under mct, where the machine that decides is
// not counted. Of the policy they are counted without it ("remote"), or with it ("all"), as [1, Table 4.1]
// seems to have done for kpb.
func (p *printed) saved(x, mct *ran) measured {
	count := func(r *queueing.Replication) float64 {
		if p.rest() == "all" {
			return r.All
		}
		return r.Remote
	}
	var sum, square float64
	n := float64(len(x.Runs))
	for k := range x.Runs {
		d := 100 * (1 - count(&x.Runs[k])/mct.Runs[k].Remote)
		sum, square = sum+d, square+d*d
	}
	mean := sum / n
	spread := math.Sqrt(max(square-sum*mean, 0) / (n - 1) / n)
	return measured{mean: mean, half: queueing.Student(n-1) * spread}
}
