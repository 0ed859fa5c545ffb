package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"skep/node/api/v1"
	"skep/sim/net"
)

// conformance is the scenario that the simulator and real nodes run.
const conformance = "testdata/conformance.yaml"

// The same scenario gives the same placements in the simulator and on real nodes: five processes over loopback whose
// tasks sleep for as long as the scenario's model says.
//
// The simulator's replications measure the variance: a figure's mean over the runs on real nodes must be within the
// prediction interval for so many more replications, at a level at which all figures together are with 99 %. Costs of
// a real machine that the model lacks are allowed: 25 ms for each task (its process starts in some milliseconds, not
// in one, and its end is reported over HTTP), and 0.03 for shares, since longer tasks wait longer.
//
// SKEP_CONFORMANCE is the number of runs on real nodes; each takes about 14 s.
func TestConformance(t *testing.T) {
	runs, _ := strconv.Atoi(os.Getenv("SKEP_CONFORMANCE"))
	if runs < 1 {
		t.Skip("SKEP_CONFORMANCE=N runs it, as make conformance does")
	}
	b, err := os.ReadFile(conformance)
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := net.ParseScenario(conformance, b, os.ReadFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	model, err := net.Run(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := predicted(model)
	skep := buildSkep(t)
	got := map[string]float64{}
	for k := range runs {
		for name, v := range measureRealNodes(t, skep, s, s.Seed+uint64(s.Replications+k)) {
			got[name] += v / float64(runs)
		}
	}
	for _, w := range want {
		n := float64(s.Replications)
		student := distuv.StudentsT{Sigma: 1, Nu: n - 1}
		deviation := w.Half / student.Quantile(0.975) * math.Sqrt(n)
		chance := student.Quantile(1-0.005/float64(len(want))) * deviation * math.Sqrt(1/n+1/float64(runs))
		line := fmt.Sprintf("%-24s real %.3f, modelled %.3f, difference %+.3f of at most %.3f by chance and %.3f allowed",
			w.name, got[w.name], w.Mean, got[w.name]-w.Mean, chance, w.allowed)
		t.Log(line)
		if d := math.Abs(got[w.name] - w.Mean); !(d <= chance+w.allowed) {
			t.Error(line)
		}
	}
}

// figure is a compared quantity.
type figure struct {
	name string
	net.Estimate
	allowed float64
}

const (
	allowedTime  = 0.025 // seconds
	allowedShare = 0.03
	allowedPolls = 0.1 // messages
)

func predicted(r *net.Report) []figure {
	out := []figure{{"completion", r.Completion, allowedTime}, {"moved", r.Moved, allowedShare}}
	for _, c := range r.Classes {
		out = append(out, figure{"completion of " + c.Class, c.Completion, allowedTime},
			figure{"moved of " + c.Class, c.Moved, allowedShare})
	}
	for _, g := range r.Groups {
		out = append(out, figure{"ran at " + g.Group, g.Ran, allowedShare})
	}
	for _, k := range r.Messages {
		if k.Kind == "poll" || k.Kind == "offer" {
			out = append(out, figure{k.Kind + "s a task", k.PerTask, allowedPolls})
		}
	}
	return out
}

// measureRealNodes runs the scenario once on real nodes, and measures what predicted reads from a report.
func measureRealNodes(t *testing.T, skep string, s *net.Scenario, seed uint64) map[string]float64 {
	t.Helper()
	tr := runTrial(t, skep, s, seed, nil, func(tr *trial, k int) *v1.Spec {
		return sleepJob(s, classOf(s, tr.tasks[k].Spec.Class), tr.sizes[k], tr.group)
	})
	out := map[string]float64{}
	n, of := float64(len(tr.tasks)), map[string]float64{}
	for k := range tr.tasks {
		of[tr.tasks[k].Spec.Class]++
	}
	for k := range tr.tasks {
		class, at := tr.tasks[k].Spec.Class, tr.group[tr.done[k].Node]
		out["completion"] += tr.took[k] / n
		out["completion of "+class] += tr.took[k] / of[class]
		out["ran at "+at] += 1 / n
		if at != s.Groups[tr.tasks[k].Node].Name {
			out["moved"] += 1 / n
			out["moved of "+class] += 1 / of[class]
		}
	}
	for _, kind := range []string{"poll", "offer"} {
		out[kind+"s a task"] = tr.messages[kind] / n
	}
	return out
}

func classOf(s *net.Scenario, name string) *net.Class {
	for i := range s.Classes {
		if s.Classes[i].Name == name {
			return &s.Classes[i]
		}
	}
	return nil
}

// sleepJob returns a job of one task that sleeps for as long as a task of that size takes on its worker.
func sleepJob(s *net.Scenario, c *net.Class, size float64, name map[string]string) *v1.Spec {
	var script strings.Builder
	script.WriteString("case $SKEP_NODE in ")
	for id, group := range name {
		for _, g := range s.Groups {
			if rate := g.Rates[c.Name]; g.Name == group && rate > 0 {
				fmt.Fprintf(&script, "%s) exec sleep %.6f;; ", id, size/rate)
			}
		}
	}
	script.WriteString("*) exit 9;; esac")
	spec := &v1.Spec{Class: c.Name, Command: []string{"sh", "-c", script.String()},
		Needs: v1.Needs{Cores: 1, Labels: map[string][]string{}}}
	for _, l := range c.Needs.Labels {
		spec.Needs.Labels[l.Key] = l.Values
	}
	return spec
}
