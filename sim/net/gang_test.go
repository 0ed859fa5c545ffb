package net

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// quotas is six machines of the speeds ½, ½, ¼, ¼, ⅛, ⅛, which other users come to and leave.
const quotas = `
name: quotas
replications: 20
warmup: 15s
time: 10m
classes: {life: {}}
nodes:
  - {name: eighth, count: 2, speed: 0.125, load: {left: 0.5, busy: 30s, free: 2m}}
  - {name: half, count: 2, speed: 0.5, load: {left: 0.5, busy: 30s, free: 2m}}
  - {name: quarter, count: 2, speed: 0.25, load: {left: 0.5, busy: 30s, free: 2m}}
workload:
  - {class: life, rate: 0.08, gang: {ranks: 6, iterations: 100, model: {name: life, n: 3000}}}
`

func ran(t *testing.T, s *Scenario) *Report {
	t.Helper()
	r, err := Run(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Strategies on machines with quotas, paired: each knows more than the one before it and is not significantly
// worse. With a rank at each node basic divides as user does.
func TestStrategies(t *testing.T) {
	s := comparable(t, quotas)
	c, err := Compare(context.Background(), s, []string{"user", "static", "dynamic"}, "iteration", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Complete || c.Replications != 20 {
		t.Fatalf("%+v: want 20 replications", c)
	}
	for k, p := range c.Policies {
		t.Logf("%s: rank %.3g ± %.2g, %.3g ± %.2g %% from the best", p.Policy, p.Rank.Mean, p.Rank.Half,
			p.Degradation.Mean, p.Degradation.Half)
		if p.Failed > 0 {
			t.Errorf("%s: %d replications failed", p.Policy, p.Failed)
		}
		if k > 0 && p.Above.Mean-p.Above.Half > 0 {
			t.Errorf("%s is worse than %s: by %+v %%", p.Policy, c.Policies[k-1].Policy, *p.Above)
		}
	}
	if d := c.Policies[0].Degradation; d.Mean-d.Half < 50 {
		t.Errorf("equal shares are %+v %% from the best: want 50 at least", d)
	}
}

// Without load gangs take what was predicted; latencies count where the model has them.
func TestGangReport(t *testing.T) {
	text := strings.ReplaceAll(quotas, ", load: {left: 0.5, busy: 30s, free: 2m}", "")
	text = strings.Replace(text, "n: 3000", "n: 3000, latency: 1", 1) + "network: {latency: 2ms}\n"
	s := comparable(t, text)
	s.Replications = 2
	r := ran(t, s)
	if len(r.Gangs) != 1 || r.Gangs[0].Gangs < 5 || r.Gangs[0].Other > 0 || r.Gangs[0].Restarts > 0 {
		t.Fatalf("%+v; want gangs of one class that ended", r.Gangs)
	}
	g := r.Gangs[0]
	want := 72*3000*3000/(1.75*3e9) + 0.004
	if math.Abs(g.Iteration.Mean-want) > 0.03*want || g.Error.Mean > 3 || g.Nodes.Mean != 6 {
		t.Errorf("%+v; want %g s an iteration, as predicted", g, want)
	}
	if !(g.Turnaround.Mean > g.Wait.Mean+100*g.Iteration.Mean) || !(g.Wait.Mean > 0) {
		t.Errorf("%+v: a gang waits, and then has 100 iterations", g)
	}
	if b, err := json.Marshal(r); err != nil || !strings.Contains(string(b), `"error_pct":{`) {
		t.Errorf("JSON %.300s, %v", b, err)
	}
}

// With machines that come and go all gangs end; some begin again.
func TestGangsUnderChurn(t *testing.T) {
	text := strings.ReplaceAll(quotas, "load: {left: 0.5, busy: 30s, free: 2m}",
		"session: {exponential: 4m}, away: {exponential: 20s}")
	s := comparable(t, strings.Replace(text, "ranks: 6", "ranks: 3", 1))
	s.Replications = 4
	r := ran(t, s)
	if r.Lost > 0 || len(r.Gangs) != 1 || r.Gangs[0].Other > 0 || r.Gangs[0].Restarts == 0 {
		t.Errorf("%+v, %d lost; want gangs that end, and restarts", r.Gangs, r.Lost)
	}
	if again := ran(t, s); again.Digest != r.Digest {
		t.Errorf("digests %s and %s of one seed", r.Digest, again.Digest)
	}
}

// Messages between sites share their uplinks; those within one do not.
func TestSitesShareUplinks(t *testing.T) {
	var took []float64
	for _, sites := range []string{"", ", site: a", ", site: b"} {
		text := "replications: 1\ntime: 2m\nwarmup: 1s\nclasses: {j: {}}\nnodes: [{name: x, count: 2}, {name: y, count: 2" +
			sites + "}]\nnetwork: {uplink: 100KiB, ranks: 1MiB}\n" +
			"workload: [{class: j, once: 20s, gang: {ranks: 4, iterations: 20, model: {name: life, n: 12800}}}]\n"
		took = append(took, ran(t, comparable(t, text)).Gangs[0].Iteration.Mean)
	}
	// 51200 bytes to a neighbour: half of a second more through the uplink than through two ports
	if took[1] < took[0]+0.4 || took[2] != took[1] {
		t.Errorf("%v s an iteration; want half a second more with two sites", took)
	}
}

// What is wrong with a gang is said at its line, all at once.
func TestGangsThatCannotBe(t *testing.T) {
	base := func(gang, rest string) string {
		return "classes: {a: {}, b: {mean: 1s}}\nnodes: [{name: n, count: 4" + rest + "}]\nworkload:\n" +
			"  - {class: b, rate: 1}\n  - {class: a, rate: 0.1, gang: " + gang + "}\n"
	}
	good := "{ranks: 2, iterations: 9, model: {name: life, n: 90}}"
	if err := parseErr(base(good, "")); err != "" {
		t.Fatal(err)
	}
	for want, text := range map[string]string{
		`s.yaml:5:34: unknown key "rank": want one of ranks`: base(
			"{rank: 2, iterations: 9, model: {name: life, n: 90}}", ""),
		"s.yaml:5:33: gang: want ranks, iterations and a model": base("{ranks: 2, model: {name: life, n: 90}}", ""),
		`model "table": is not simulated: want`: base(
			"{ranks: 2, iterations: 9, model: {name: table, units: 90}}", ""),
		`model life: "m": is not known`: base(
			"{ranks: 2, iterations: 9, model: {name: life, n: 90, m: 1}}", ""),
		`mapper "even": is not known`: base(
			"{ranks: 2, iterations: 9, mapper: even, model: {name: life, n: 9}}", ""),
		"gang of 5 ranks: all nodes together have slots for 4": base(
			"{ranks: 5, iterations: 9, model: {name: life, n: 90}}", ""),
		"load: want left, busy and free":            base(good, ", load: {left: 0.5}"),
		"rates of a: want none":                     base(good, ", rates: {a: 1}"),
		"tasks: want none with a gang":              base(good+", tasks: 3", ""),
		"is that of a gang and of another stream":   base(good, "") + "  - {class: a, rate: 1}\n",
		"classes.b: has mean: want none":            base(good, "") + "  - {class: b, rate: 1, gang: " + good + "}\n",
		"trace: want none with a gang, whose model": base(good, "") + "  - {class: a, trace: x.swf, gang: " + good + "}\n",
	} {
		if err := parseErr(text); !strings.Contains(err, want) || strings.Contains(err, "no machine can run it") {
			t.Errorf("%q; want %q", err, want)
		}
	}
	s := comparable(t, "classes: {b: {mean: 1s}}\nnodes: [{count: 4}]\nworkload: [{class: b, rate: 1}]\n")
	for want, c := range map[string][2]string{"static is a strategy for gangs": {"static", "completion"},
		"by iteration: the workload has no gangs": {"mct", "iteration"}} {
		_, err := Compare(context.Background(), s, []string{"local", c[0]}, c[1], nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}
