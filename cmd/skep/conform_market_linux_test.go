package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"skep/node/api/v1"
	"skep/sim/net"
)

// marketScenario is T2 of the market study, scaled down.
const marketScenario = "testdata/market.yaml"

// protocols are rows of the market study, as nodes run them: policy, order of what waits, and what suspends what.
var protocols = []struct{ policy, order, preempt string }{
	{"cda", "bid", "never"},
	{"cda_res:0.5", "bid", "never"},
	{"rr", "fifo", "never"},
	{"psp", "bid", "never"}, // as nodes run it by default: one task after the other
	{"hbp", "bid", "suspend:1"},
}

// The same tasks have the same weighted completion time (WCT) in the simulator and on real nodes under the protocols of
// a market, in seconds and over that of the first protocol: the intervals of both meet. A run on real nodes has the
// arrivals, sizes and bids of a replication of the simulator, whatever the protocol.
//
// What a real machine does beside what the scenario says is not allowed for. What a task takes on its node beyond its
// run time is measured, and the simulator runs a second time with it, which tells what of a difference it explains: a
// node that is busy for longer has longer queues, the more the more it is loaded.
//
// SKEP_MARKET_CONFORMANCE is the number of runs on real nodes of each protocol; each takes a minute.
func TestMarketConformance(t *testing.T) {
	runs, _ := strconv.Atoi(os.Getenv("SKEP_MARKET_CONFORMANCE"))
	if runs < 2 {
		t.Skip("SKEP_MARKET_CONFORMANCE=N, 2 or more, runs it, as make conformance does")
	}
	skep := buildSkep(t)
	of := make([]compared, len(protocols))
	var costs []float64
	for k := range runs { // one after the other, so that what else the machine does is spread over all protocols
		for n, p := range protocols {
			s := marketUnder(t, p.policy, p.order, p.preempt)
			tr := runTrial(t, skep, s, s.Seed+uint64(k), []string{"--policy", p.policy, "--order", p.order, "--preempt",
				p.preempt}, func(tr *trial, k int) *v1.Spec { return tickJob(s, tr, k) })
			wct, cost := weigh(s, tr)
			of[n].real, costs = append(of[n].real, wct), append(costs, cost)
			t.Logf("%-12s run %d: WCT %.3f s, a task takes %.1f ms more", p.policy, k+1, wct, 1000*cost)
		}
	}
	cost := net.EstimateOf(costs)
	t.Logf("a task takes %.1f ± %.1f ms more on real nodes", 1000*cost.Mean, 1000*cost.Half)
	one := slices.Repeat([]float64{1}, runs)
	for n, p := range protocols {
		x, s := &of[n], marketUnder(t, p.policy, p.order, p.preempt)
		x.modelled = modelled(t, s, runs)
		s.Overhead = time.Duration(cost.Mean * float64(time.Second))
		x.costed = modelled(t, s, runs)
		t.Logf("%-12s WCT real %s s, modelled %s, with that cost %s; real over modelled %s, with that cost %s", p.policy,
			est(over(x.real, one)), est(over(x.modelled, one)), est(over(x.costed, one)), est(over(x.real, x.modelled)),
			est(over(x.real, x.costed)))
		if r, m := over(x.real, one), over(x.modelled, one); !meet(r, m) {
			t.Errorf("%s: WCT %s on real nodes, %s modelled: want intervals that meet", p.policy, est(r), est(m))
		}
		first := &of[0]
		r, m := over(x.real, first.real), over(x.modelled, first.modelled)
		t.Logf("%-12s over %s: real %s, modelled %s, with that cost %s", p.policy, protocols[0].policy, est(r), est(m),
			est(over(x.costed, first.costed)))
		if !meet(r, m) {
			t.Errorf("%s over %s: %s on real nodes, %s modelled: want intervals that meet", p.policy, protocols[0].policy,
				est(r), est(m))
		}
	}
}

// compared are the WCTs of a protocol, by run.
type compared struct{ real, modelled, costed []float64 }

// The scenario can be run under all of these protocols, and suspends tasks where it is meant to.
func TestMarketScenario(t *testing.T) {
	for _, p := range protocols {
		r, err := net.Run(t.Context(), marketUnder(t, p.policy, p.order, p.preempt), nil)
		if err != nil {
			t.Fatal(err)
		}
		if suspends := r.Worth.Suspensions > 0; r.Ended != r.Tasks || r.Failed > 0 || suspends != (p.preempt != "never") {
			t.Errorf("%s: %d of %d tasks ended, %d failed, suspended %d times", p.policy, r.Ended, r.Tasks, r.Failed,
				r.Worth.Suspensions)
		}
	}
}

// marketUnder is the scenario as nodes run it under a protocol.
func marketUnder(t *testing.T, policy, order, preempt string) *net.Scenario {
	t.Helper()
	b, err := os.ReadFile(marketScenario)
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := net.ParseScenario(marketScenario, b, os.ReadFile, func(s *net.Scenario) {
		s.Node.Policy, s.Node.Order.Rule, s.Replications = policy, order, 1
		if err := s.Node.Order.SetPreempt(preempt); err != nil {
			t.Fatal(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// modelled is the WCT in the simulator of so many runs.
func modelled(t *testing.T, s *net.Scenario, runs int) (wct []float64) {
	t.Helper()
	for k := range runs {
		one := *s
		one.Seed += uint64(k)
		r, err := net.Run(t.Context(), &one, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Ended != r.Tasks || r.Failed > 0 {
			t.Fatalf("%s, seed %d: %d of %d tasks ended, %d failed", s.Node.Policy, one.Seed, r.Ended, r.Tasks, r.Failed)
		}
		wct = append(wct, r.Worth.All.WCT.Mean)
	}
	return wct
}

// weigh is the WCT of a trial, and the median of what its tasks took on their nodes beyond their run times, in seconds.
func weigh(s *net.Scenario, tr *trial) (wct, cost float64) {
	var costs []float64
	n := float64(len(tr.tasks))
	for k, done := range tr.done {
		spec := tr.tasks[k].Spec
		wct += spec.Bid().Number() * tr.took[k] / n
		costs = append(costs, done.Result.Wall-tr.sizes[k]/rateAt(s, tr.group[done.Node], spec.Class))
	}
	slices.Sort(costs)
	return wct, costs[len(costs)/2]
}

func rateAt(s *net.Scenario, group, class string) float64 {
	for _, g := range s.Groups {
		if g.Name == group {
			return g.Rates[class]
		}
	}
	return 0
}

// tickScript runs for so many microseconds in which it is not stopped: what it misses between two looks at the clock is
// not counted.
const tickScript = `exec {f}<> <(:); left=$1; last=${EPOCHREALTIME/./}
while ((left > 0)); do
	printf -v t '0.%06d' $((left < 20000 ? left : 20000))
	read -rt $t -u $f
	now=${EPOCHREALTIME/./}; d=$((now - last)); last=$now
	((left -= d < 100000 ? d : 100000))
done
exit 0`

// tickJob is a task of a trial, which runs for as long as one of its size takes on its worker.
func tickJob(s *net.Scenario, tr *trial, k int) *v1.Spec {
	spec := tr.tasks[k].Spec
	var which strings.Builder
	which.WriteString("case $SKEP_NODE in ")
	for _, id := range slices.Sorted(maps.Keys(tr.group)) {
		fmt.Fprintf(&which, "%s) set -- %.0f;; ", id, 1e6*tr.sizes[k]/rateAt(s, tr.group[id], spec.Class))
	}
	which.WriteString("*) exit 9;; esac\n")
	bid := spec.Bid().Number()
	return &v1.Spec{Class: spec.Class, Command: []string{"bash", "-c", which.String() + tickScript},
		Rules: v1.Rules{Priority: &bid}}
}

// over is the mean of one figure over another, run by run.
func over(a, b []float64) net.Estimate {
	var ratios []float64
	for k := range a {
		ratios = append(ratios, a[k]/b[k])
	}
	return net.EstimateOf(ratios)
}

// meet reports whether the intervals of two estimates do.
func meet(a, b net.Estimate) bool { return math.Abs(a.Mean-b.Mean) <= a.Half+b.Half }
