package net

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/sim"
)

// The long-run rate is the configured one, whatever the shape.
func TestArrivalRates(t *testing.T) {
	for name, st := range map[string]Stream{
		"poisson": {Rate: 5},
		"jobs":    {Rate: 5, Tasks: 10},
		"bursts":  {Rate: 5, On: 5 * time.Second, Off: 20 * time.Second},
		"diurnal": {Rate: 5, Period: time.Minute, Swing: 0.9},
	} {
		const hours = 4
		times := st.times(0, hours*time.Hour, grid.NewRand(3, 1))
		got := float64(len(times)) * float64(max(st.Tasks, 1)) / (hours * 3600)
		if math.Abs(got-5) > 0.4 {
			t.Errorf("%s: %.3f tasks a second, want 5", name, got)
		}
		// Counts in windows of 5 s: bursts have more variance than a Poisson process.
		if v := dispersion(times, 5*time.Second, hours*time.Hour); name == "poisson" && math.Abs(v-1) > 0.15 ||
			name == "bursts" && v < 5 || name == "diurnal" && v < 2 {
			t.Errorf("%s: index of dispersion %.2f", name, v)
		}
	}
}

func dispersion(times []time.Duration, window, end time.Duration) float64 {
	counts := make([]float64, end/window)
	for _, at := range times {
		counts[min(int(at/window), len(counts)-1)]++
	}
	mean, v := 0.0, 0.0
	for _, c := range counts {
		mean += c / float64(len(counts))
	}
	for _, c := range counts {
		v += (c - mean) * (c - mean) / float64(len(counts))
	}
	return v / mean
}

func TestSWF(t *testing.T) {
	const good = "; comment\n\n1 100 0 60 4 -1 -1 4 -1 -1 1 3 1 1 1 1 -1 -1\n2 130 0 -1 4 -1 -1 4 -1 -1 0 3 1 1 1 1 -1 " +
		"-1\n3 160 5 30.5 -1 -1 -1 2 -1 -1 1 4 1 1 1 1 -1 -1\n"
	jobs, err := ReadSWF("t.swf", good)
	if err != nil || len(jobs) != 2 || jobs[0] != (Job{0, time.Minute, 4, 3}) ||
		jobs[1] != (Job{time.Minute, 30500 * time.Millisecond, 2, 4}) {
		t.Errorf("%v, %v", jobs, err)
	}
	_,
		err = ReadSWF("t.swf",
		"1 2 3\n1 x 0 60 4 -1 -1 4 -1 -1 1 3 1 1 1 1 -1 -1\n1 -5 0 60 4 -1 -1 4 -1 -1 1 3 1 1 1 1 -1 -1\n1 9 0 60 4 -1 -1 "+
			"4 -1 -1 1 3 1 1 1 1 -1 -1\n1 8 0 60 4 -1 -1 4 -1 -1 1 3 1 1 1 1 -1 -1\n1 9 0 60 1e9 -1 -1 4 -1 -1 1 3 1 1 1 "+
			"1 -1 -1\n")
	for _, want := range []string{"t.swf:1: 3 fields", "t.swf:2: field 2", "t.swf:3: submit time -5",
		"t.swf:5: submit time 8", "t.swf:6: 1e+09 processors"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("does not say %q: %v", want, err)
		}
	}
	if _, err := ReadSWF("t.swf", "; nothing\n"); err == nil || !strings.Contains(err.Error(), "no job that ran") {
		t.Errorf("empty trace: %v", err)
	}
}

// A trace's tasks take their run time on the reference, and a user's jobs have one origin.
func TestTraceIsRun(t *testing.T) {
	s := small()
	s.Streams = []Stream{{Class: "b", Trace: []Job{{0, 3 * time.Second, 2, 1}, {time.Second, time.Second, 1, 1},
		{time.Hour, time.Second, 1, 1}}}}
	work := s.Arrivals(1)
	if len(work) != 2 || work[0].Size != 1.5 || work[0].Spec.Count != 2 || work[0].Node != work[1].Node ||
		work[1].At != s.Start+time.Second {
		t.Errorf("%+v", work)
	}
	s.Warmup, s.Replications = 0, 1
	if r := run(t, s); r.Ended != 3 || r.Lost != 0 {
		t.Errorf("%+v", r)
	}
}

func TestSpans(t *testing.T) {
	r := grid.NewRand(1, 1)
	for _, s := range []Span{{Kind: Constant, A: time.Second}, {Kind: Uniform, A: 0, B: 2 * time.Second},
		{Kind: Exponential, A: time.Second}, {Kind: Weibull, A: time.Second, Exp: 0.7}} {
		sum := 0.0
		const n = 100_000
		for range n {
			sum += s.draw(r).Seconds() / n
		}
		if math.Abs(sum-1) > 0.02 || s.mean() != time.Second {
			t.Errorf("%+v: mean %v", s, sum)
		}
	}
}

func TestPlaneAndMatrix(t *testing.T) {
	s := small()
	s.Network = Network{Plane: 100 * time.Millisecond}
	l := s.latency(1)
	if a, b := l(0, 1, nil), l(1, 0, nil); a != b || a <= 0 || a > 142*time.Millisecond || l(3, 3, nil) != 0 {
		t.Errorf("%v and %v in a plane", a, b)
	}
	s.Network = Network{Matrix: [][]time.Duration{{1, 20}, {30, 4}}}
	if l = s.latency(1); l(0, 3, nil) != 1 || l(0, 4, nil) != 20 || l(9, 0, nil) != 30 || l(5, 6, nil) != 4 {
		t.Error("a matrix of groups is read wrongly")
	}
}

// Sizes are those of the run: alone on its node, a task takes its size over the rate, and the overhead.
func TestSizesAreThoseOfTheRun(t *testing.T) {
	const text = `name: sizes
seed: 5
time: 40s
warmup: 1s
overhead: 250ms
classes: {c: {size: {loguniform: 10}}}
nodes: [{name: n, count: 1, cpus: 1, rates: {c: 2}}]
node: {members: 1}
workload: [{class: c, tasks: 1, once: 10s}]
`
	s, _, err := ParseScenario("s.yaml", []byte(text), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	sizes := s.Sizes(s.Seed)
	if len(sizes) != 1 || r.Tasks != 1 {
		t.Fatalf("sizes %v of %d tasks: want one", sizes, r.Tasks)
	}
	for _, out := range []string{"0s", "2h"} {
		_, _, err := ParseScenario("s.yaml", []byte(strings.Replace(text, "250ms", out, 1)), nil, nil)
		if err == nil || !strings.Contains(err.Error(), "s.yaml:5:11: overhead "+out[:1]) {
			t.Errorf("overhead %s: %v, want it refused", out, err)
		}
	}
	if want := sizes[0]/2 + 0.25; math.Abs(r.Completion.Mean-want) > 0.01 {
		t.Errorf("a task of size %.3f took %.3f s, want %.3f", sizes[0], r.Completion.Mean, want)
	}
	sum, low, high, n := 0.0, math.Inf(1), 0.0, 20_000
	draw, chance := sim.LogUniform(10), grid.NewRand(1, 1)
	for range n {
		x := draw(chance)
		sum, low, high = sum+x/float64(n), min(low, x), max(high, x)
	}
	if math.Abs(sum-1) > 0.02 || math.Abs(high/low-10) > 0.1 {
		t.Errorf("log-uniform over a factor of 10: mean %.3f, from %.4f to %.4f", sum, low, high)
	}
}
