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
	mean, half float64 // half is NaN of one replication, 0 of what is exact
	text       string
	verdict    Verdict // of words
}

// said is a statement that holds or does not, whatever chance did.
func said(text string, holds bool) measured {
	if holds {
		return measured{text: text, verdict: Inside}
	}
	return measured{text: text, verdict: Departs}
}

// errNone is where there is no run.
var errNone = errors.New("the quick form has no run of it, or it was interrupted before")

// measure looks a number up in the runs and the optima. The error says why there is none.
func (s *Study) measure(p *printed, results map[key]*ran, optima map[key]*optimum) (measured, error) {
	if p.rule == unrun {
		return measured{}, fmt.Errorf("%s", p.label.why)
	}
	if p.kind() == "allot" {
		text := s.grids[p.Scenario].Allotment()
		return said(text, text == p.text), nil
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
		return said(word, word == p.text), nil
	case "order":
		return p.order(r)
	case "between":
		return p.between(r), nil
	case "little":
		return said(fmt.Sprintf("%.2g %%", 100*float64(r[0].Little)), r[0].LittleHolds), nil
	case "half":
		part := float64(r[0].W.Half / r[0].W.Mean)
		return said(fmt.Sprintf("%.2g %%", 100*part), part <= 0.05), nil
	case "limit":
		return r[0].limit, nil
	case "ratios":
		return across(r, completions, func(w, base float64) float64 { return base / w }), nil
	case "gaps":
		return across(r, completions, func(w, base float64) float64 { return w - base }), nil
	case "asks":
		fewer := chain{relations: []relation{relations["<"]}}
		remote := func(x *queueing.Replication) float64 { return x.Remote }
		m := fewer.judge([][]float64{r[0].each(remote), r[1].each(remote)})
		m.text = strings.Replace(m.text, ", ", ", mct ", 1)
		return m, nil
	case "guarded":
		if g := r[0].Guarded; g != nil {
			return measured{mean: 100 * float64(g.Mean), half: 100 * float64(g.Half)}, nil
		}
		return measured{}, errNone
	case "messages":
		return p.saved(r[0], r[1]), nil
	}
	if !r[0].Stable || p.kind() == "improvement" && !r[1].Stable {
		return said("unstable", false), nil
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

// each is a figure of each replication.
func (r *ran) each(of func(*queueing.Replication) float64) (out []float64) {
	for k := range r.Runs {
		out = append(out, of(&r.Runs[k]))
	}
	return out
}

func completion(x *queueing.Replication) float64 { return x.W }

func completions(r *ran) []float64 { return r.each(completion) }

// order compares the completion times of policies, or with order:limit the rates at which they are full: there, a is
// before b where its limit is the lower.
func (p *printed) order(r []*ran) (measured, error) {
	var of [][]float64
	for _, x := range r {
		switch p.rest() {
		case "":
			of = append(of, x.each(completion))
		case "limit":
			of = append(of, x.limits)
		default:
			return measured{}, fmt.Errorf("no order is called %s", p.Metric)
		}
	}
	return p.chain.judge(of), nil
}

// across tells how a policy compares with another in one scenario after the other: it has to rise. Scenarios are of
// different chance.
func across(r []*ran, of func(*ran) []float64, f func(x, base float64) float64) measured {
	m := measured{verdict: Inside}
	var parts []string
	var last, lastHalf float64
	for k := 0; k < len(r); k += 2 {
		a, b := of(r[k]), of(r[k+1])
		var d []float64
		for i := range min(len(a), len(b)) {
			d = append(d, f(a[i], b[i]))
		}
		x, half := f(average(a), average(b)), halfWidth(d)
		if k > 0 {
			rise := relations["<"]
			m.verdict = worst(m.verdict, within(x-last, math.Hypot(half, lastHalf), rise.low, rise.high))
		}
		last, lastHalf = x, half
		parts = append(parts, fmt.Sprintf("%.4g", x))
	}
	m.text = strings.Join(parts, ", ")
	return m
}

// between tells whether the value lies between the completion times in two scenarios, as one would have it where the
// value is what the system does at a rate between theirs. A system that is full has none: what it does is above all.
func (p *printed) between(r []*ran) measured {
	m := measured{verdict: Inside}
	var parts []string
	for k, x := range r {
		if !x.Stable {
			parts = append(parts, "unstable")
			if k == 0 {
				m.verdict = Departs
			}
			continue
		}
		parts = append(parts, show(float64(x.W.Mean), float64(x.W.Half)))
		low, high := math.Inf(-1), p.mid
		if k == 1 {
			low, high = p.mid, math.Inf(1)
		}
		m.verdict = worst(m.verdict, within(float64(x.W.Mean), float64(x.W.Half), low, high))
	}
	m.text = strings.Join(parts, " to ")
	return m
}

// improvement is (W_base − W) / W_base in percent. Its interval is that of the same tasks under both.
func improvement(x, base *ran) measured {
	mean, half := gainOver(x.each(completion), base.each(completion))
	return measured{mean: mean, half: half}
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
	mean, half := gainOver(x.each(count), mct.each(func(r *queueing.Replication) float64 { return r.Remote }))
	return measured{mean: mean, half: half}
}
