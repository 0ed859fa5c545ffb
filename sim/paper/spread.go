package paper

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"gonum.org/v1/gonum/stat"

	"skep/gossip"
	"skep/grid"
	"skep/node"
	"skep/sim/net"
	"skep/sim/queueing"
	"skep/sim/spread"
)

// setting is a system of the world spread, under dissemination rules in the place of policies; a scenario is one
// with a number of nodes, plane@1000.
type setting struct {
	// Setting is reference, plane (the same load on nodes with equal degrees and views of 64), usual (with the
	// views that a node has by default), whole (with views that hold all) or tasks (whole nodes
	// with tasks under lpas_dec; its rule perfect is perfect information).
	Setting string `yaml:"setting"`

	// Start and Warmup are of tasks: when the first come, after the nodes have found each other, and when those begin
	// that are measured. By default 10 s, and a third of the time.
	Start  time.Duration `yaml:"start"`
	Warmup time.Duration `yaml:"warmup"`
}

func readSetting(file string, b []byte) (*setting, error) {
	s := &setting{Start: 10 * time.Second}
	if err := yaml.UnmarshalWithOptions(b, s, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	switch s.Setting {
	case "reference", "plane", "usual", "whole", "tasks":
		return s, nil
	}
	return nil, fmt.Errorf("%s: setting %q: want reference, plane, usual, whole or tasks", file, s.Setting)
}

// nodesOf reads the number of nodes of a scenario, plane@1000.
func nodesOf(scenario string) int {
	_, text, _ := strings.Cut(scenario, "@")
	n, _ := strconv.Atoi(text)
	return n
}

// spread runs rules. The time of its lengths is in seconds, the warm-up included.
func (w *work) spread(ctx context.Context, x run, l length) (out []ran, err error) {
	name, text, _ := strings.Cut(x.scenario, "@")
	nodes, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("nodes %q: want a number, as in plane@1000", text)
	}
	for _, rule := range x.policies {
		r := newRan(rule)
		for k := range l.replications {
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			seed, long := w.options.Seed+uint64(k), time.Duration(l.time*float64(time.Second))
			if set := w.study.settings[name]; set.Setting == "tasks" {
				err = r.tasks(ctx, set, rule, nodes, seed, long)
			} else {
				err = r.news(set.Setting, rule, nodes, seed, long)
			}
			if err != nil {
				return out, fmt.Errorf("%s: %w", rule, err)
			}
			w.did(l.time * float64(nodes))
		}
		out = append(out, r)
	}
	return out, nil
}

// news measures how it spreads.
func (r *ran) news(kind, rule string, nodes int, seed uint64, long time.Duration) error {
	c := spread.Reference(rule, seed)
	if kind != "reference" {
		c = spread.Plane(rule, nodes, seed)
	}
	switch kind {
	case "whole":
		c.Gossip.View = min(max(nodes, 64), 1<<16)
	case "usual":
		c.Gossip.View = gossip.Defaults().View
	}
	c.Nodes, c.Phases[0].Time, c.Warmup = nodes, long, long/2
	m, err := spread.Run(c)
	if err != nil {
		return err
	}
	r.take("per_ad", m.PerAd)
	r.take("bytes", m.Bytes)
	for h := 1; h < spread.Farthest; h++ {
		r.take(fmt.Sprint("error:", h), m.Error[h])
		r.take(fmt.Sprint("stale:", h), m.Stale[h])
		r.take(fmt.Sprint("coverage:", h), m.Coverage[h])
	}
	return nil
}

// tasks measures what it is worth to tasks: two kinds of machines, two classes, half of what they can do.
func (r *ran) tasks(ctx context.Context, set *setting, rule string, nodes int, seed uint64, long time.Duration) error {
	c := node.Defaults()
	c.Gossip.View, c.Members, c.Pull, c.Order.Rule = 64, 1, false, "fifo"
	if rule == "perfect" {
		rule = gossip.Defaults().Rule
	}
	c.Gossip.Rule = rule
	one := grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}
	fast := nodes / 3
	s := &net.Scenario{Name: "tasks", Seed: seed, Replications: 1, Start: set.Start, Warmup: cmp.Or(set.Warmup, long/3),
		Time: long, Node: c, Perfect: r.Policy == "perfect",
		Groups: []net.Group{
			{Name: "fast", Count: fast, Cores: 2, Memory: grid.GiB, Speed: 2, Rates: map[string]float64{"long": 0.8}},
			{Name: "slow", Count: nodes - fast, Cores: 1, Memory: grid.GiB, Speed: 1, Rates: map[string]float64{"long": 0.2}}},
		Classes: []net.Class{{Name: "short", Mean: time.Second, Needs: one, Retries: 1000},
			{Name: "long", Mean: 4 * time.Second, Needs: one, Retries: 1000}},
		Streams: []net.Stream{{Class: "short", Rate: 0.5 * float64(nodes)}, {Class: "long", Rate: 0.2 * float64(nodes)}}}
	s.Network.Plane, s.Network.Latency = 40*time.Millisecond, net.Span{Kind: net.Uniform, A: time.Millisecond,
		B: 3 * time.Millisecond}
	m, err := net.Run(ctx, s, nil)
	if err != nil {
		return err
	}
	sum, n := 0.0, 0.0
	for _, c := range m.Classes {
		if c.Tasks > 0 {
			sum, n = sum+c.Completion.Mean*float64(c.Tasks), n+float64(c.Tasks)
		}
	}
	r.take("W", sum/n)
	all := 0.0
	for _, k := range m.Messages {
		all += k.BytesPerNode.Mean
		if k.Kind == "digest" {
			r.take("digests", k.BytesPerNode.Mean)
		}
	}
	r.take("bytes", all)
	return nil
}

func (r *ran) take(figure string, x float64) {
	if !math.IsNaN(x) {
		r.figures[figure] = append(r.figures[figure], x)
	}
}

// figure is the mean of one with its interval.
func (r *ran) figure(name string) (measured, error) {
	x := r.figures[name]
	if len(x) == 0 {
		return measured{}, fmt.Errorf("nobody so far away is known")
	}
	mean, deviation := stat.MeanStdDev(x, nil)
	return measured{mean: mean, half: queueing.Student(float64(len(x)-1)) * deviation / math.Sqrt(float64(len(x)))}, nil
}

// ofNews computes a number out of runs of the worlds spread, bags and market.
func (p *printed) ofNews(r []*ran) (measured, error) {
	switch p.kind() {
	case "order":
		return p.orderOfNews(r)
	case "ratios":
		times := func(r *ran) []float64 { return append(r.figures["makespan"], r.figures["CT"]...) } // a world has one
		return across(r, times, func(x, base float64) float64 { return base / x }), nil
	case "rises", "most":
		return p.byDistance(r[0])
	case "share", "growth":
		return p.bar(r[0], r[1])
	case "over", "times":
		return p.over(r[0], r[1])
	}
	return r[0].figure(p.Metric)
}

// orderOfNews compares a figure of several rules.
func (p *printed) orderOfNews(r []*ran) (measured, error) {
	var of [][]float64
	for _, run := range r {
		if len(run.figures[p.rest()]) == 0 {
			return measured{}, errNone
		}
		of = append(of, run.figures[p.rest()])
	}
	return p.chain.judge(of), nil
}

// rising is how much of the figure before may be missing where figures have to rise.
const rising = 0.02

// byDistance tells whether a figure rises with the distance, or is at most what the value says at all.
func (p *printed) byDistance(run *ran) (measured, error) {
	bound, err := strconv.ParseFloat(p.text, 64)
	if p.kind() == "most" && err != nil {
		return measured{}, fmt.Errorf("value %q: want a number", p.text)
	}
	m := measured{verdict: Inside}
	var parts []string
	var last measured
	for h := 1; h < spread.Farthest; h++ {
		x, err := run.figure(fmt.Sprint(p.rest(), ":", h))
		if err != nil {
			continue
		}
		if p.kind() == "most" {
			m.verdict = worst(m.verdict, within(x.mean, x.half, math.Inf(-1), bound))
		} else if len(parts) > 0 {
			rise, half := x.mean-last.mean, math.Hypot(x.half, last.half)
			m.verdict = worst(m.verdict, within(rise, half, -rising*x.mean, math.Inf(1)))
		}
		last, parts = x, append(parts, fmt.Sprintf("%.3g", x.mean))
	}
	m.text = strings.Join(parts, ", ")
	return m, nil
}

// bar tells whether a figure of one run over that of another is at most what the value says.
func (p *printed) bar(run, other *ran) (measured, error) {
	figure, _, _ := strings.Cut(p.rest(), "/")
	bound, err := strconv.ParseFloat(strings.TrimPrefix(p.text, "≤ "), 64)
	if err != nil {
		return measured{}, fmt.Errorf("value %q: want ≤ and a number", p.text)
	}
	a, b := run.figures[figure], other.figures[figure]
	if len(a) == 0 || len(b) == 0 {
		return measured{}, errNone
	}
	gain, half := gainOver(a, b)
	ratio := measured{mean: 1 - gain/100, half: half / 100}
	ratio.text, ratio.verdict = show(ratio.mean, ratio.half), within(ratio.mean, ratio.half, math.Inf(-1), bound)
	return ratio, nil
}
