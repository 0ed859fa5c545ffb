package queueing

import (
	"os"
	"strings"
	"testing"
)

const wholeFile = `
name: all keys
classes: [short, long]
machines:
  - {name: fast, count: 3}
  - {name: slow}
mu:
  - [9, 5]
  - [2, 0]
alpha: [[1, 2], [0.5, 0]]
decide: machines
service: {hyperexponential: {scv: 2}}
rate_changes: {mean_interval: 28.57, alpha: [1, 1.1, 1.2], mu: [1, 1.05, 1.15]}
failures:
  - {rate: 0.05, mean_fault: 4, up: exponential}
  - {rate: 0.01, mean_fault: 1, up: {weibull: {shape: 0.6}}, down: deterministic}
availability: [1, {values: [1, 0.5], matrix: [[0.9, 0.1], [0.2, 0.8]], step: 10}]
announced: [1, 0.9]
inaccuracy: {rates: 0.1, availability: 0.2, redraw: message}
delay: 0.01
`

func TestReadAllKeys(t *testing.T) {
	s, err := Read("all.yaml", []byte(wholeFile))
	if err != nil {
		t.Fatal(err)
	}
	if s.Size() != 4 || s.Machines[1].Count != 1 || s.AlphaAt[1][0] != 0.5 || s.Mu[0][1] != 5 ||
		s.Service != (Distribution{Hyperexponential, 2, 0}) ||
		s.RateChanges.Mu[2] != 1.15 || s.Failures[1].Up != (Distribution{Weibull, 0.6, 0}) ||
		s.Failures[1].Down.Kind != Deterministic ||
		s.Availability[1].Chain.Step != 10 || s.Announced[1] != 0.9 || !s.Inaccuracy.EachMessage || s.Delay != 0.01 {
		t.Errorf("read as %+v", s)
	}
	if got := s.Availability[1].mean(); !near(Number(got), (2+0.5)/3, 1e-9) {
		t.Errorf("mean availability %g, want 2/3·1 + 1/3·0.5", got)
	}
	mustRun(t, s, Options{Policies: []string{"lpas_dec"}, Time: 3000})
}

func TestReadNumbers(t *testing.T) {
	s, err := Read("f", []byte("classes: [a]\nmachines: [{count: 5e1}]\nmu: [[2e-05, ]]\nalpha: [1_0e-6]\ndelay: +1\n"))
	if err != nil || s.Mu[0][0] != 2e-5 || s.Size() != 50 || s.Alpha[0] != 1e-5 || s.Delay != 1 {
		t.Errorf("read as %+v, %v", s, err)
	}
	if _, err := Read("f", []byte("classes: [a]\nmachines: [{}]\nmu: [['2']]\nalpha: [1]\n")); err == nil ||
		!strings.HasPrefix(err.Error(), "f:3: mu[0][0]: ") {
		t.Errorf("text for a number: error %v", err)
	}
}

func TestReadExample(t *testing.T) {
	b, err := os.ReadFile("testdata/two-groups.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Read("two-groups.yaml", b)
	if err != nil {
		t.Fatal(err)
	}
	if l := s.Lambda(); !near(Number(l), 1.9643, 1e-4) {
		t.Errorf("lambda* %g, want 1.9643", l)
	}
}

// Everything that is wrong is said at once, each with its line.
func TestReadErrors(t *testing.T) {
	for _, c := range []struct {
		file string
		want []string
	}{
		{"", []string{"f: is empty: want a system"}},
		{"# nothing\n", []string{"f: is empty"}},
		{"{}", []string{"f: classes: 0 of them", "f: machines: none", "f: alpha: nothing arrives"}},
		{"[1, 2]", []string{"f:1: want keys and values: name, classes"}},
		{"name: [", []string{"f:1: sequence end token"}},
		{"name: a\n---\nname: b\n", []string{"f:3: a second document: want one"}},
		{`name: bad
classes: [short, long, none]
machines:
  - {name: fast, count: 3}
  - {name: slow, count: 5, speed: 3}
mu:
  - [9, -5]
  - [2]
  - [0, 0]
alpha: [12.5, x, 1]
service: {hyperexponential: {scv: 0.5}}
rate_changes: {mean_interval: 0, alpha: [1, -1.1]}
failures: {rate: -1, up: gamma}
availability: [2, 1, 1]
delay: -1
delay: 2
colour: red
`, []string{
			`f:5: machines[1]: unknown key "speed": want one of name, count`,
			`f:7: mu[0][1]: -5: want a rate`,
			`f:8: mu[1]: 1 entries for 2 machine lines`,
			`f:9: mu[2]: no machine runs class none`,
			`f:10: alpha[1]: "x": want a number`,
			`f:11: service: want scv from 1 to 1000`,
			`f:12: rate_changes.mean_interval: 0: want a time above 0`,
			`f:12: rate_changes.alpha[1]: -1.1: want a factor`,
			`f:13: failures.up: "gamma": want exponential, deterministic`,
			`f:13: failures: want both rate, of faults while up, and mean_fault`,
			`f:13: failures.rate: -1: want a rate`,
			`f:14: availability: 3 entries for 2 machine lines`,
			`f:14: availability[0]: 2: want a part above 0, up to 1`,
			`f:15: delay: -1: want 0 or more`,
			`f:16: key "delay" stands twice`,
			`f:17: unknown key "colour"`,
		}},
		{"classes: [a]\nmachines: [{count: 0}]\nmu: [[.nan]]\nalpha: [.inf]\n",
			[]string{"f:2: machines[0].count: 0: want a whole number", "f:3: mu[0][0]: NaN: want a rate",
				"f:4: alpha[0]: +Inf: want a rate"}},
		// What cannot be read hides nothing that stands beside it.
		{"classes: [a, b]\nmachines: [{count: x, class: c}, {}]\nmu: [[x, -1], [0, 0]]\nalpha: [-1, -2]\n",
			[]string{`f:2: machines[0].count: "x": want a number`,
				`f:2: machines[0].class: "c": want one of the classes`, `f:3: mu[0][0]: "x": want a number`,
				"f:3: mu[0][1]: -1: want a rate", "f:3: mu[1]: no machine runs class b",
				"f:4: alpha[0]: -1: want a rate", "f:4: alpha[1]: -2: want a rate"}},
		{"classes: a\nmachines: [{}]\nmu: [[1], [2]]\nalpha: [1]\n", []string{"f:1: classes: want a list"}},
		{"classes: [a]\nmachines: [{}]\nmu: [[1]]\nalpha: [0.1]\nservice: {}\nfailures: {rate: 1, mean_fault: 1, up: " +
			"{weibull: {shape: 2}, uniform: [1, 2]}}\n",
			[]string{"f:5: service: 0 distributions: want exponential", "f:6: failures.up: 2 distributions: want"}},
		{"mu: " + strings.Repeat("[", 1e6), []string{"f:1: nested more than 100 deep: want"}},
		{"classes:\n" + strings.Repeat("- ", 5e5), []string{"f:2: nested more than 100 deep: want"}},
		{"name: " + strings.Repeat("a: ", 1e5), []string{"f:1: nested more than 100 deep: want"}},
		{"classes: [a, a]\nmachines: [{}]\nmu: [[1], [1]]\nalpha: [0, 0]\n",
			[]string{`f:1: classes[1]: "a": want a name that no other`, "f:4: alpha: nothing arrives"}},
		{"classes: [a]\nmachines: [{count: 2}]\nmu: [[1]]\nalpha: [2.5]\n",
			[]string{"f:4: alpha: cannot be stable: lambda* is 0.8, that is a load of 1.25: want lambda* above 1"}},
		{"classes: [a]\nmachines: [{}]\nmu: [[2]]\nalpha: [1]\nfailures: {rate: 1, mean_fault: 2}\n",
			[]string{"f:4: alpha: cannot be stable: lambda* is 0.6667"}},
		{"classes: [a]\nmachines: [{}]\nmu: [[2]]\nalpha: [[1]]\ndecide: mapper\n",
			[]string{"f:5: decide: mapper, with arrivals at each machine"}},
	} {
		_, err := Read("f", []byte(c.file))
		if err == nil {
			t.Errorf("%q: no error", c.file)
			continue
		}
		got := strings.Split(err.Error(), "\n")
		for k, want := range c.want {
			if k >= len(got) || !strings.HasPrefix(got[k], want) {
				t.Errorf("%q: the errors are\n%s\nwant one that begins with %q", c.file, err, want)
				break
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%q: %d errors, want %d:\n%s", c.file, len(got), len(c.want), err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(wholeFile))
	f.Add([]byte("classes: [a]\nmachines: [{count: 2}]\nmu: [[1]]\nalpha: [1.5]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Read("f", b)
		if err == nil && (len(s.Check()) > 0 || !(s.Lambda() > 1)) {
			t.Errorf("%q was read, and is no system", b)
		}
	})
}
