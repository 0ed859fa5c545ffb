package net

import (
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// TestAutoIsAsGoodAsTheBest runs only where there are some.
var reliabilityRuns = flag.Int("net.reliability", 0, "replications in TestAutoIsAsGoodAsTheBest: some minutes for four")

// dying is a grid of nodes that die, of which a share of the runs is lost, with tasks that are worth from nothing to
// much and of which some are wanted so soon that a lost run cannot be repeated. Whoever submits does not die.
const dying = `name: dying
start: 10s
warmup: 20m
time: 80m
seed: 5
classes:
  urgent: {mean: 20s, size: deterministic, labels: {worker: ["yes"]}, priority: [0.5, 10],
    deadline: {at: [25s, 45s]}, RULES}
  later: {mean: 20s, size: deterministic, labels: {worker: ["yes"]}, priority: [0.5, 10], RULES}
nodes:
  - {name: home, count: 2, cpus: 1}
  - {name: worker, count: 24, cpus: 1, labels: {worker: "yes"}SESSIONS}
node: {members: 1}
workload:
  - {class: urgent, rate: 0.2, from: [home]}
  - {class: later, rate: 0.2, from: [home]}
`

// Where a fifth of the runs is lost, copies of what is dear and urgent save some of the worth that retries alone lose,
// and take less than copies of everything.
func TestCopiesSaveWhatIsDear(t *testing.T) {
	retried, once := underReliability(t, 0.2, "retries: 3")
	saved, some := underReliability(t, 0.2, "retries: 3, idempotent: true, reliability: auto")
	_, all := underReliability(t, 0.2, "retries: 3, idempotent: true, reliability: replicate")
	t.Logf("worth %.1f and node-seconds %.1f of a task with retries, %.1f and %.1f with some copies, %.1f with all",
		retried, once, saved, some, all)
	if saved <= retried || some <= once || some > 0.8*all {
		t.Error("want more worth than with retries, for less than copies of everything take")
	}
}

// reliabilityCost is what is lost of the worth of results and spent on runs, in node-seconds for each task.
type reliabilityCost struct{ lost, spent float64 }

func (c reliabilityCost) sum() float64 { return c.lost + c.spent }

// underReliability runs the grid with a share of the runs lost. The worth is that of the same tasks in a grid where
// nothing dies, less what was got.
func underReliability(t *testing.T, share float64, rules string) (utility, spent float64) {
	sessions := ""
	if share > 0 {
		sessions = fmt.Sprintf(", session: {exponential: %.0fs}, away: {exponential: 20s}", -20/math.Log1p(-share))
	}
	text := strings.NewReplacer("RULES", rules, "SESSIONS", sessions).Replace(dying)
	s, _, err := ParseScenario("s.yaml", []byte(text), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Replications = max(*reliabilityRuns, 1)
	if *reliabilityRuns == 0 {
		s.Warmup, s.Time = 2*time.Minute, 14*time.Minute
	}
	r := run(t, s)
	const rate = 0.4 // tasks a second
	return r.Worth.All.Utility.Mean, r.Utilisation.Mean * float64(r.Nodes) / rate
}

// [1, chapter 7] of package reliability: of nothing, retries and copies none is best where runs are lost often and
// seldom, for what is dear and for what is not. To choose for each task is never worse than the best of them by more
// than 5 %, in what results lose of their worth and what runs take, together: a copy buys the one with the other.
func TestAutoIsAsGoodAsTheBest(t *testing.T) {
	if *reliabilityRuns == 0 {
		t.Skip("a quarter of an hour with -net.reliability 4")
	}
	whole, _ := underReliability(t, 0, "retries: 3")
	for _, share := range []float64{0.01, 0.05, 0.2} {
		cost := map[string]reliabilityCost{}
		for name, rules := range map[string]string{
			"none": "retries: 0", "retry": "retries: 3",
			"two":  "retries: 3, idempotent: true, reliability: replicate",
			"auto": "retries: 3, idempotent: true, reliability: auto",
		} {
			utility, spent := underReliability(t, share, rules)
			cost[name] = reliabilityCost{whole - utility, spent}
		}
		best := math.Inf(1)
		for _, name := range []string{"none", "retry", "two"} {
			best = min(best, cost[name].sum())
		}
		for _, name := range []string{"none", "retry", "two", "auto"} {
			t.Logf("%g %% of runs lost, %s: %.2f of worth lost, %.2f node-seconds: %.2f", 100*share, name, cost[name].lost,
				cost[name].spent, cost[name].sum())
		}
		if auto := cost["auto"].sum(); auto > 1.05*best {
			t.Errorf("%g %% of runs lost: auto costs %.2f, the best of the others %.2f: want at most 5 %% more", 100*share,
				auto, best)
		}
	}
}
