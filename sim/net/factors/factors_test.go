package factors

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

func study(file string, factors ...string) *Study {
	s := &Study{Name: "lab.yaml", File: []byte(file), By: "completion", Read: func(string) ([]byte, error) {
		return nil, errors.New("no files here")
	}}
	for _, text := range factors {
		f, err := Parse(text)
		if err != nil {
			panic(err)
		}
		s.Factors = append(s.Factors, f)
	}
	return s
}

const lab = `
replications: 5
warmup: 5s
time: 40s
classes: {a: {mean: 400ms}}
nodes: [{name: fast, count: 2, cpus: 1, speed: 2}, {name: slow, count: 3, cpus: 1}]
workload: [{class: a, rate: 1}]
`

// Tasks of three times the length take some three times as long, and faster machines less, while a key that nobody
// looks at at such a load does next to nothing.
func TestEffects(t *testing.T) {
	s := study(lab, "classes.a.mean=200ms..600ms", "nodes.slow.speed=1..1.5", "network.bandwidth=50MiB..100MiB")
	runs := 0
	s.Progress = func(done, of int) {
		if runs++; done != runs || of != 8 {
			t.Errorf("run %d of %d is the %dth of 8", done, of, runs)
		}
	}
	r, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	length, speed, band := r.Effects[0], r.Effects[1], r.Effects[2]
	if length.Rank != 1 || length.Effect.Mean < 0.2 || length.Effect.Half > 0.1 || length.Share < 0.5 {
		t.Errorf("the tasks' length: %+v: want the first effect, some 0.3 s", length)
	}
	if speed.Rank != 2 || speed.Effect.Mean > -0.01 || math.Abs(band.Effect.Mean) > -speed.Effect.Mean {
		t.Errorf("speed %+v, bandwidth %+v: want less time by speed, and next to nothing by bandwidth", speed, band)
	}
	if len(r.Runs) != 8 || r.Runs[0].Levels == r.Runs[4].Levels || r.Replications != 5 {
		t.Errorf("%+v", r)
	}
}

func TestBadFactors(t *testing.T) {
	for text, want := range map[string]string{
		"gossip.view": "want KEY=LOW..HIGH",
		"a=1..":       "want KEY=LOW..HIGH",
		"a..b=1..2":   "want KEY=LOW..HIGH",
		"a=2..2":      "low and high are the same",
		"seed=1..2":   "seed is the same in all runs",
		"time=[..2s":  `"[": is no YAML value`,
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
	for _, c := range []struct{ factor, want string }{
		{"nodes.none.speed=1..2", `factor nodes.none.speed: "none": the list has no such item: want its place, from 0 to`},
		{"nodes.7.speed=1..2", `"7": the list has no such item`},
		{"time.x=1..2", `"x": lies in a value that has no keys`},
		{"tme=1s..2s", `with tme=2s: unknown key "tme"`},
		{"classes.a.mean=x..2s", `with classes.a.mean=x: mean "x"`},
		{"workload.0.rate=1..100", "with workload.0.rate=100"},
	} {
		if _, err := study(lab, c.factor).Run(context.Background()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.factor, err, c.want)
		}
	}
	for _, c := range []struct {
		factors []string
		by      string
		want    string
	}{
		{[]string{"nodes.slow.speed=1..2", "nodes.1.speed=3..4"}, "completion",
			"factors nodes.slow.speed and nodes.1.speed: set the same key"},
		{[]string{"workload.a.rate=1..2", "workload.+0.rate=3..4"}, "completion", "set the same key"},
		{[]string{"gossip.view=4..8", "gossip={}..{view: 4}"}, "completion",
			"factors gossip.view and gossip: set the same key, or one a part of the other"},
		{[]string{"workload.a.rate=1..2"}, "iteration", "by iteration: the workload has no gangs"},
	} {
		s := study(lab, c.factors...)
		s.By = c.by
		if _, err := s.Run(context.Background()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want one with %q", c.factors, err, c.want)
		}
	}
	if _, err := study("classes: [").Run(context.Background()); err == nil {
		t.Error("no factors and a broken file pass")
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if r, err := study(lab, "workload.0.rate=1..2").Run(ctx); r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %+v, %v", r, err)
	}
}
