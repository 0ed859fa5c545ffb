package paper

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"skep/sim/forwarding"
)

// claim is a line of numbers.csv of a study of request forwarding: a number of a reference run with a tolerance, or a
// bound that ours has to keep.
type claim struct {
	Source, Scenario, Policy, Metric, Value string

	rule      rule
	label     label
	tolerance float64
}

// metrics are what can be claimed of the second half of the requests; with :first of the first tenth, with :POLICY as a
// part of what another strategy has.
var metrics = map[string]func(r *forwarding.Result, w *forwarding.Window) float64{
	"hops":     func(_ *forwarding.Result, w *forwarding.Window) float64 { return w.MeanHops() },
	"success":  func(_ *forwarding.Result, w *forwarding.Window) float64 { return w.Success() },
	"messages": func(_ *forwarding.Result, w *forwarding.Window) float64 { return w.PerRequest() },
	"busiest":  func(r *forwarding.Result, _ *forwarding.Window) float64 { return r.Busiest },
	"wait":     func(_ *forwarding.Result, w *forwarding.Window) float64 { return w.MeanWait().Seconds() },
	"longest":  func(_ *forwarding.Result, w *forwarding.Window) float64 { return w.Longest.Seconds() },
	"calls": func(_ *forwarding.Result, w *forwarding.Window) float64 {
		return float64(w.Calls) / float64(w.Requests)
	},
}

func (r record) claim() (claim, error) {
	c := claim{Source: r["source"], Scenario: r["scenario"], Policy: r["policy"], Metric: r["metric"], Value: r["value"],
		rule: rule(r["rule"])}
	name, _, _ := strings.Cut(c.Metric, ":")
	var err error
	if c.label, err = r.label(c.rule); err != nil {
		return c, err
	}
	if metrics[name] == nil {
		return c, fmt.Errorf("metric %q: is not known", c.Metric)
	}
	if c.rule == report && c.Value == "" {
		return c, nil
	}
	_, x, err := c.bound()
	if err != nil {
		return c, err
	}
	p := printed{mid: x}
	err = p.allow(r["tolerance"])
	c.tolerance = p.tolerance
	return c, err
}

// bound reads "<= 0.25", ">= 0.99" or a number.
func (c *claim) bound() (op string, x float64, err error) {
	t := c.Value
	for _, o := range []string{"<=", ">="} {
		if rest, ok := strings.CutPrefix(t, o); ok {
			op, t = o, strings.TrimSpace(rest)
		}
	}
	if x, err = strconv.ParseFloat(t, 64); err != nil {
		err = fmt.Errorf("value %q: want a number, <= or >= before it", c.Value)
	}
	return op, x, err
}

// needs lists the strategies whose runs the claim takes.
func (c *claim) needs() []string {
	if _, other, _ := strings.Cut(c.Metric, ":"); other != "" && other != "first" {
		return []string{c.Policy, other}
	}
	return []string{c.Policy}
}

// measure is the mean over the seeds with the half-width of its 95 % interval, which one seed does not have.
func (c *claim) measure(results map[key][]*forwarding.Result) (mean, half float64, err error) {
	name, of, _ := strings.Cut(c.Metric, ":")
	value := func(r *forwarding.Result) float64 {
		if of == "first" {
			return metrics[name](r, &r.First)
		}
		return metrics[name](r, &r.Second)
	}
	ours := results[key{c.Scenario, c.Policy}]
	base := ours
	if of != "" && of != "first" {
		base = results[key{c.Scenario, of}]
	}
	n := min(len(ours), len(base))
	if n == 0 {
		return 0, 0, errNone
	}
	var each []float64
	for k := range n {
		x := value(ours[k])
		if of != "" && of != "first" {
			x /= value(base[k])
		}
		each = append(each, x)
	}
	return average(each), halfWidth(each), nil
}

// judge says what came of a claim, by the same rule as of a printed number. A bound is what is allowed.
func (c *claim) judge(results map[key][]*forwarding.Result) Line {
	l := Line{Source: c.Source, Scenario: c.Scenario, Policy: c.Policy, Metric: c.Metric,
		Published: c.Value, Class: c.label.class}
	mean, half, err := c.measure(results)
	if err != nil {
		l.Verdict, l.Ours, l.Says = NotRun, "–", "not run: "+err.Error()
		return l
	}
	l.Ours, l.Mean = show(mean, half), mean
	if !math.IsNaN(half) {
		l.Half = half
	}
	switch op, x, _ := c.bound(); {
	case c.rule == report:
	case op == "":
		p := printed{mid: x, tolerance: c.tolerance}
		l.Deviation = 100 * (mean - x) / x
		l.Verdict = p.compare(measured{mean: mean, half: half})
		l.Says = p.words(l.Verdict, measured{mean: mean, half: half})
	case op == "<=":
		l.Verdict = within(mean, half, math.Inf(-1), x)
		l.Says = inWords(l.Verdict)
	default:
		l.Verdict = within(mean, half, x, math.Inf(1))
		l.Says = inWords(l.Verdict)
	}
	c.label.apply(&l, c.rule)
	return l
}
