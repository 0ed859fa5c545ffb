package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"skep/sim/net"
)

// cli runs a command line and returns its exit code and output.
func cli(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &o, err: &e}
	return a.main(context.Background(), args), o.String(), e.String()
}

func scenario(t *testing.T, text string, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i+1 < len(more); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, more[i]), []byte(more[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, "s.yaml")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

const smallNet = `
time: 40s
warmup: 10s
start: 5s
classes:
  a: {mean: 500ms}
  b: {mean: 1s, size: {hyperexponential: 4}}
nodes:
  - {name: fast, count: 2, cpus: 2, speed: 2}
  - {name: slow, count: 4, labels: {zone: x}, session: {exponential: 60s}, away: 5s}
network: {latency: {matrix: m.csv, plus: {uniform: [0s, 1ms]}}, loss: 0.01, bandwidth: 1MiB}
gossip: {view: 20}
workload:
  - {class: a, rate: 3, burst: {on: 2s, off: 6s}}
  - {class: b, rate: 1, from: [slow], diurnal: {period: 20s, swing: 1}}
faults:
  - {at: 20s, slow: fast/0, factor: 3}
  - {at: 25s, cut: 50%}
  - {at: 28s, heal: all}
  - {at: 30s, drift: [slow/1-2, fast], factor: -400}
`

const smallMatrix = "# ms\n0.5, 10\n12, 1\n"

func TestSimNet(t *testing.T) {
	t.Parallel()
	name := scenario(t, smallNet, "m.csv", smallMatrix)
	plots := filepath.Join(filepath.Dir(name), "plots")
	code, out, errs := cli(t, "sim", "net", name, "--output", "json", "--seed", "5", "--replications", "2", "--plot",
		plots)
	if code != 0 || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var r net.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Lost != 0 || r.Ended != r.Tasks || r.Tasks < 100 || r.Seed != 5 || r.Replications != 2 || len(r.Classes) != 2 ||
		!r.Complete {
		t.Errorf("%+v", r)
	}
	for _, p := range []string{"completion", "messages", "view-age", "view-error"} {
		if b, err := os.ReadFile(filepath.Join(plots, p+".svg")); err != nil || !bytes.HasPrefix(b, []byte("<svg")) {
			t.Errorf("%s: %v", p, err)
		}
		if b, err := os.ReadFile(filepath.Join(plots, p+".png")); err != nil || !bytes.HasPrefix(b, []byte("\x89PNG")) {
			t.Errorf("%s: %v", p, err)
		}
	}
	if _, again, _ := cli(t, "sim", "net", name, "--output", "json", "--seed", "5", "--replications",
		"2"); !strings.Contains(again, r.Digest) {
		t.Error("the same seed has another digest")
	}
	for _, format := range []string{"table", "csv", "yaml"} {
		if code, out, errs = cli(t, "sim", "net", name, "--output", format); code != 0 ||
			!strings.Contains(strings.ToLower(out), "utilisation") {
			t.Errorf("%s: exit %d: %s%s", format, code, out, errs)
		}
	}
}

// Jobs of a trace that begin after the end of arrivals are left out and counted.
func TestSimNetTraceBeyondEnd(t *testing.T) {
	job := func(n, at int) string {
		return fmt.Sprintf("%d %d 0 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n", n, at)
	}
	text := "start: 5s\nwarmup: 5s\ntime: 30s\nclasses: {a: {mean: 1s}}\nnodes: [{count: 3}]\nworkload: [{class: a, " +
		"trace: t.swf}, {class: a, trace: t.swf}]\n"
	name := scenario(t, text, "t.swf", "; jobs\n"+job(1, 100)+job(2, 110)+job(3, 124)+job(4, 125)+job(5, 1000))
	for format, want := range map[string]string{"table": "\n4 jobs of traces left out, which begin after the time",
		"json": `"trace_jobs_left_out": 4,`, "csv": ",trace_jobs_left_out,,4,", "yaml": "trace_jobs_left_out: 4\n"} {
		if code, out, errs := cli(t, "sim", "net", name, "--output", format); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, does not say %q: %s%s", format, code, want, errs, out)
		}
	}
	if _, out, errs := cli(t, "sim", "net", name, "--time", "20m"); !strings.Contains(out, "10 tasks, 10 ended") ||
		strings.Contains(out, "left out") {
		t.Errorf("with time for all: %s%s", errs, out)
	}
}

// A table has no powers of ten, so that values can be compared.
func TestEstimateFormat(t *testing.T) {
	for want, e := range map[string]net.Estimate{
		"38320 ± 10000":      {Mean: 38321.9, Half: 9960},
		"186.2 ± 470":        {Mean: 186.21, Half: 473},
		"0.0003968 ± 0.0017": {Mean: 0.00039684, Half: 0.001731},
		"1.016 ± 0.16":       {Mean: 1.0163, Half: 0.159},
		"7":                  {Mean: 7},
		"-":                  {Mean: math.NaN()},
		"1e-09":              {Mean: 1e-9},
		"0":                  {},
	} {
		if got := est(e); got != want {
			t.Errorf("%v: %q, want %q", e, got, want)
		}
	}
}

// Completion times of an unstable run are not printed, in any format.
func TestSimNetUnstable(t *testing.T) {
	t.Parallel()
	name := scenario(t, "start: 1s\nwarmup: 10s\ntime: 300s\npolicy: local\nclasses: {a: {mean: 1s}}\n"+
		"nodes: [{name: s}, {name: f, count: 5}]\nworkload: [{class: a, rate: 2.5, from: [s]}]\n")
	for _, format := range []string{"table", "json", "yaml", "csv"} {
		code, out, errs := cli(t, "sim", "net", name, "--output", format)
		if code != 1 || !strings.Contains(errs, "unstable: the number of tasks") ||
			regexp.MustCompile(`(?i)slowdown\W+\d|p99\W+\d|completion\W+\w*\W*\d`).MatchString(out) {
			t.Errorf("%s: exit %d: %s%s", format, code, errs, out)
		}
		if !regexp.MustCompile(`(?i)unstable|"?stable"?[:,]+ ?(false|,0)`).MatchString(out) {
			t.Errorf("%s does not say so: %s", format, out)
		}
	}
}

func TestSimSwarmVerb(t *testing.T) {
	code, out, errs := cli(t, "sim", "swarm", "--seeds", "3", "--seed", "9")
	if code != 0 || !regexp.MustCompile(`(?m)^9 +3 +\d+ +\d+ +\d+\.\d +\d+ +0$`).MatchString(out) {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if code, _, errs := cli(t, "sim", "swarm", "--seeds", "0"); code != 1 ||
		!strings.Contains(errs, "--seeds 0: want 1 or more") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestSimReplayOfInvalidFile(t *testing.T) {
	name := scenario(t, "hello")
	if code, _, errs := cli(t, "sim", "replay", name); code != 1 || !strings.Contains(errs, "is no recording") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
