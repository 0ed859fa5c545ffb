package net

import (
	"context"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"skep/balance"
	"skep/grid"
	"skep/sim"
	"skep/sim/queueing"
)

// unit is a time unit of the queueing system in the grid: long enough for the millisecond that starting a task takes
// to be negligible.
const unit = 10 * time.Second

// asScenario is a queueing system as a grid of nodes that are given the rates and compute as the theses do: only tasks
// take time, all nodes are connected, and other mechanisms of a real node are off.
func asScenario(sys *queueing.System, length, warmup float64, replications int) *Scenario {
	s := &Scenario{Name: sys.Name, Seed: 1, Replications: replications, Start: unit,
		Warmup: unit + grid.Seconds(warmup*unit.Seconds()),
		Time:   unit + grid.Seconds(length*unit.Seconds()), Node: alone(), Given: true}
	s.Node.Balance, s.Node.Lease, s.Node.Order.Rule = balance.Config{}, time.Hour, "fifo"
	s.Network.World.Mesh = true
	for i, class := range sys.Classes {
		s.Classes = append(s.Classes, Class{Name: class, Size: sim.Exponential(),
			Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}})
		for j, m := range sys.Machines {
			s.Streams = append(s.Streams, Stream{Class: class, Rate: sys.AlphaAt[i][j] / unit.Seconds(), From: []string{m.Name}})
		}
	}
	for j, m := range sys.Machines {
		g := Group{Name: m.Name, Count: 1, Cores: 1, Memory: grid.GiB, Speed: 1, Rates: map[string]float64{}}
		for i, class := range sys.Classes {
			g.Rates[class] = sys.Mu[i][j] / unit.Seconds()
		}
		s.Groups = append(s.Groups, g)
	}
	return s
}

// system4A is System 4.A [1 of package balance, p. 84] with constant rates, all arrivals times load.
func system4A(t *testing.T, load float64) *queueing.System {
	b, err := os.ReadFile("../paper/lpas-grid/systems/4a.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sys, err := queueing.Read("4a.yaml", b)
	if err != nil {
		t.Fatal(err)
	}
	sys.RateChanges = nil
	for i := range sys.AlphaAt {
		for j := range sys.AlphaAt[i] {
			sys.AlphaAt[i][j] *= load
		}
	}
	return sys
}

// Real nodes on a network without latency, given the rates, under the zero value of balance.Config, behave as the
// queueing system. Compared are the mean time of all tasks and of each class, the share of tasks moved and the
// messages for a task. Each difference must be within its Welch interval, at a level at which all together hold with
// 95 % (Bonferroni); and the intervals of the response time under lpas_dec must be below 4 % of it, so that the test
// can fail.
func TestGridIsTheQueueingSystem(t *testing.T) {
	const length, warmup, runs = 170, 20, 10
	policies := []string{"lpas_dec", "kpb:3", "mct"}
	if testing.Short() {
		policies = policies[:1]
	}
	sys := system4A(t, 1)
	for _, policy := range policies {
		s := asScenario(sys, length, warmup, runs)
		s.Node.Policy = policy
		r := run(t, s)
		q, err := queueing.Run(context.Background(), sys, queueing.Options{Policies: []string{policy}, Time: length,
			Warmup: warmup, Replications: 5 * runs, Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		x := &q.Results[0]
		c := comparison{t: t, policy: policy, level: 0.05 / float64((3+len(sys.Classes))*len(policies)), n: runs, m: 5 * runs}
		c.within("response time", scaled(r.Completion, 1/unit.Seconds()), known(x.W))
		for i := range r.Classes {
			c.within("of class "+r.Classes[i].Class, scaled(r.Classes[i].Completion, 1/unit.Seconds()),
				known(x.ByClass[i].Estimate))
		}
		c.within("moved", r.Moved, known(x.Moved))
		var remote []float64
		for _, x := range x.Runs {
			remote = append(remote, x.Remote)
		}
		var messages Estimate
		for _, k := range r.Messages {
			if k.Kind == "poll" || k.Kind == "state" {
				messages.Mean, messages.Half = messages.Mean+k.PerTask.Mean, messages.Half+k.PerTask.Half
			}
		}
		c.within("messages", messages, estimate(remote))
		if policy == "lpas_dec" && r.Completion.Half > 0.04*r.Completion.Mean {
			t.Errorf("response time %v ± %v: the interval is too wide to tell anything", r.Completion.Mean, r.Completion.Half)
		}
	}
}

func scaled(e Estimate, by float64) Estimate { return Estimate{e.Mean * by, e.Half * by} }

func known(e queueing.Estimate) Estimate { return Estimate{float64(e.Mean), float64(e.Half)} }

// comparison compares estimates of n and of m replications.
type comparison struct {
	t      *testing.T
	policy string
	level  float64
	n, m   float64
}

func (c *comparison) within(what string, got, want Estimate) {
	c.t.Helper()
	t := func(p, n float64) float64 { return distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(1 - p/2) }
	a, b := got.Half/t(0.05, c.n), want.Half/t(0.05, c.m) // standard errors
	bound := t(c.level, c.n)*math.Hypot(a, b) + 1e-9
	line := fmt.Sprintf("%s: %s: in the grid %.4f ± %.4f, in the queueing system %.4f ± %.4f: difference %.4f of at "+
		"most %.4f",
		c.policy, what, got.Mean, got.Half, want.Mean, want.Half, math.Abs(got.Mean-want.Mean), bound)
	c.t.Log(line)
	if math.Abs(got.Mean-want.Mean) > bound {
		c.t.Error(line)
	}
}
