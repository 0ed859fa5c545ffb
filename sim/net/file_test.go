package net

import (
	"errors"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// files are what the scenarios of the tests name.
var files = map[string]string{"bad.csv": "1,2\nx,3\n", "shape.csv": "1,2,3\n4,5\n", "bad.swf": ";\n1 2 3\n4 5\n"}

// parseErr returns what is wrong with a scenario, "" if nothing.
func parseErr(text string) string {
	_, _, err := ParseScenario("s.yaml", []byte(text), func(name string) ([]byte, error) {
		if b, ok := files[name]; ok {
			return []byte(b), nil
		}
		return nil, errors.New("open " + name + ": is not there")
	}, nil)
	if err == nil {
		return ""
	}
	return err.Error() + "\n"
}

// All problems are reported at once, with lines.
func TestFileReportsAllProblems(t *testing.T) {
	for text, want := range map[string][]string{
		"nods: 1\ntime: -5m\nclasses:\n  a: {mean: 1s, size: gauss}\nnodes:\n  - {count: 0, rates: {zz: -1}}\nnetwork: " +
			"{loss: 2, latency: {matrix: bad.csv}}\npolicy: best\nworkload:\n  - {class: a, rate: -2}\n  - {class: a, trace: " +
			"none.swf}\n  - {class: a, trace: bad.swf}\nfaults:\n  - {at: 1m, crash: x/5-2, heal: all}\ngossip: {viewed: 1}\n": {
			`s.yaml:1:1: unknown key "nods"`, `s.yaml:2:7: time "-5m"`, `s.yaml:4:23: size "gauss"`, `s.yaml:6:13: count "0"`,
			`s.yaml:6:28: zz "-1"`,
			`s.yaml:7:17: loss "2"`, `bad.csv:2: row 2, column 1 is "x"`, `s.yaml:8:9: policy "best"`,
			`s.yaml:10:22: rate "-2"`, `s.yaml:11:23: trace: open`,
			`s.yaml:12:23: trace: bad.swf:2: 3 fields`, `s.yaml:12:23: trace: bad.swf:3: 2 fields`,
			`s.yaml:14:21: crash "x/5-2"`, `s.yaml:14:28: a fault is one of`, `s.yaml:15:10: unknown key "viewed"`},
		"classes:\n  a: {mean: 1s}\n  big: {mean: 1s, cpu: 64}\nnodes:\n  - {name: x, count: 3}\nnetwork: {latency: " +
			"{matrix: shape.csv}}\nworkload:\n  - {class: q, rate: 1, from: [y]}\nfaults:\n  - {at: 1h, crash: z}\ngossip: " +
			"{view: 3}\n": {
			"s.yaml:3:3: classes.big: no machine can run it", "s.yaml:6:11: network.latency: matrix of 2 rows",
			"row 1 has 3 columns", `s.yaml:8:5: workload.0: class "q"`,
			`from "y": is no group`, `s.yaml:10:5: faults.0: nodes "z"`, "at 1h0m0s: want at most time",
			"s.yaml:11:1: gossip: view 3"},
		"classes:\n  a: {mean: 1s}\nnodes:\n  - {count: 2}\nworkload:\n  - {class: a, rate: 4}\n": {
			"s.yaml:5:1: workload: the load cannot be stable: λ* is 0.5"},
		// An invalid value does not prevent other reports, and is reported once.
		"nods: 1\nclasses:\n  big: {mean: 1s, cpu: 64}\nnodes:\n  - {name: x, speed: -1}\n  - {name: x, rates: {q: " +
			"1}}\npolicy: best\nworkload:\n  - {class: z, rate: -1}\n": {
			`s.yaml:1:1: unknown key "nods"`, "s.yaml:3:3: classes.big: no machine can run it", `s.yaml:5:22: speed "-1"`,
			`s.yaml:6:5: nodes.1: name "x" stands twice`,
			`s.yaml:6:5: nodes.1: rates of "q": is no class`, `s.yaml:7:9: policy "best"`, `s.yaml:9:22: rate "-1"`,
			`s.yaml:9:5: workload.0: class "z"`},
		"rates: known\nclasses:\n  a: {}\n  b: {mean: 1s}\nnodes:\n  - {rates: {a: 2}}\n  - {}\nworkload:\n  - {class: b, " +
			"rate: 0.1}\n": {`s.yaml:1:8: rates "known": want measured, or given`},
		"rates: given\nclasses:\n  a: {}\n  b: {mean: 1s}\nnodes:\n  - {rates: {a: 2}}\n  - {count: 2}\nworkload:\n  - " +
			"{class: b, rate: 0.1}\n": {
			`s.yaml:7:5: nodes.1: has no rate for class "a"`},
		"":                           {"is empty"},
		"classes: {a: {mean: 1s}}\n": {"has no nodes", "has no workload"},
	} {
		errs := parseErr(text)
		for _, w := range want {
			if !strings.Contains(errs, w) {
				t.Errorf("does not say %q:\n%s", w, errs)
			}
		}
		last := 0
		for _, m := range regexp.MustCompile(`s\.yaml:(\d+):`).FindAllStringSubmatch(errs, -1) {
			line, _ := strconv.Atoi(m[1])
			if line < last {
				t.Errorf("line %d after line %d:\n%s", line, last, errs)
			}
			last = line
		}
	}
}

// An error that follows from another one is not reported.
func TestFollowingProblemsAreNotReported(t *testing.T) {
	errs := parseErr("time: ten minutes\nwarmup: 20m\nclasses: {a: {mean: 1s}}\nnodes: [{}]\n" +
		"workload: [{class: a, rate: 0.5}]\nfaults: [{at: 1h, heal: all}]\n")
	if !strings.Contains(errs, `s.yaml:1:7: time "ten minutes"`) || strings.Count(errs, "\n") != 1 {
		t.Error(errs)
	}
}

// Ambiguous values are rejected.
func TestFileRejectsAmbiguousValues(t *testing.T) {
	errs := parseErr("nodes: [{count: 3, session: {exponential: 4m, constant: 3m}}]\nclasses: {s: {mean: 1s, size: " +
		"{hyperexponential: 2, uniform: 0.5}}, t: {mean: 1s, size: {}}}\n" +
		"network: {latency: {weibull: 3ms, shape: 2, uniform: [1ms, 2ms]}}\nworkload: [{class: s, rate: 0.5}]\n" +
		"faults: [{slow: all}, {at: 2m, crash: all, factor: 3}, {at: 4m, drift: all}, {at: 1m, share: all, factor: 0.5}]\n")
	for _, want := range []string{"s.yaml:1:29: session: want one of", "s.yaml:2:31: size: 2 distributions",
		"s.yaml:2:89: size: 0 distributions", "s.yaml:3:20: latency: want one of",
		"s.yaml:5:10: fault: has no at", "s.yaml:5:10: fault: has no factor", "s.yaml:5:23: fault: has a factor",
		"s.yaml:5:56: fault: has no factor"} {
		if !strings.Contains(errs, want) {
			t.Errorf("does not say %q:\n%s", want, errs)
		}
	}
	if strings.Contains(errs, "5:78") {
		t.Errorf("refuses a fault that is right:\n%s", errs)
	}
}

// What is not said has a default, and the command line comes before the file.
func TestFileDefaults(t *testing.T) {
	text := "seed: 3\nclasses: {a: {mean: 1s}}\nnodes: [{count: 2}]\nworkload: [{class: a, rate: 0.5}]\n"
	s, lambda, err := ParseScenario("dir/small.yaml", []byte(text), os.ReadFile, func(s *Scenario) { s.Replications = 4 })
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "small" || s.Seed != 3 || s.Replications != 4 || s.Start != 10*time.Second || s.Warmup != time.Minute ||
		s.Time != 10*time.Minute || s.Node.Strikes != 0 || lambda != 4 {
		t.Errorf("%+v, λ* %v", s, lambda)
	}
	if g := s.Groups[0]; g.Name != "group-0" || g.Cores != 1 || g.Memory != 4*grid.GiB || g.Speed != 1 {
		t.Errorf("%+v", g)
	}
	if c := s.Classes[0]; c.Retries != grid.MaxRetries || c.Needs.CPU != grid.CPU || c.Mean != time.Second {
		t.Errorf("%+v", c)
	}
}

// A section's settings are those of the configuration that it is for.
func TestKnobs(t *testing.T) {
	c := node.Defaults()
	for section, set := range map[string]string{"gossip": "view=99", "balance": "poll_max=7", "discovery": "age=3m",
		"node": "lease=9s"} {
		name, value, _ := strings.Cut(set, "=")
		if err := Knobs(&c, section)[name].Set(value); err != nil {
			t.Error(err)
		}
	}
	if c.Gossip.View != 99 || c.Balance.PollMax != 7 || c.Discovery.Age != 3*time.Minute || c.Lease != 9*time.Second {
		t.Errorf("%+v", c)
	}
	if Knobs(&c, "gossip")["view"].Set("-1") == nil {
		t.Error("a view of -1 is set")
	}
}

// Obsolete knobs are accepted, whatever their values, listed, and not offered.
func TestObsoleteKnobs(t *testing.T) {
	text := "classes: {a: {mean: 1s}}\nnodes: [{count: 2}]\nworkload: [{class: a, rate: 0.5}]\n"
	s, _, err := ParseScenario("s.yaml", []byte(text+"node: {keep: many}\ngossip: {theta: [1], view: 99, far: 0}\n"), nil,
		nil)
	if err != nil {
		t.Fatal(err)
	}
	want := node.Defaults()
	want.Strikes, want.Gossip.View = 0, 99
	if !reflect.DeepEqual(s.Node, want) || !slices.Equal(s.Obsolete, []string{"node.keep", "gossip.theta", "gossip.far"}) {
		t.Errorf("%+v, obsolete %q", s.Node, s.Obsolete)
	}
	for section, names := range obsoleteKnobs {
		for _, name := range names {
			if _, there := Knobs(&want, section)[name]; there {
				t.Errorf("%s.%s is obsolete, and there", section, name)
			}
		}
		if errs := parseErr(text + section + ": {zz: 1}\n"); !strings.Contains(errs, `unknown key "zz"`) ||
			strings.Contains(errs, names[0]+",") {
			t.Error(errs)
		}
	}
}
