package net

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// From 100 histories on TestRegretOfHistories runs all policies.
var histories = flag.Int("net.histories", 12, "random histories in TestRegretOfHistories")

// history draws a grid and what happened in it: short and long tasks, tasks with inputs, different programs in one
// class. Once that is over, a bag of equal tasks comes from one node; it is what is measured.
func history(seed uint64, policy string, pull bool) *Scenario {
	r := grid.NewRand(seed, 0x68697374)
	s := &Scenario{Name: fmt.Sprint("history ", seed), Seed: seed, Replications: 1, Start: 10 * time.Second, Node: alone()}
	s.Node.Policy, s.Node.Pull = policy, pull
	slots, power := 0, 0.0
	for g := range 1 + r.IntN(3) {
		group := Group{Name: fmt.Sprint("g", g), Count: 1 + r.IntN(4), Cores: float64(1 + r.IntN(4)),
			Memory: 8 * grid.GiB, Speed: []float64{0.5, 1, 1, 2}[r.IntN(4)]}
		if g == 0 {
			group.Speed = 1
		}
		s.Groups, slots = append(s.Groups, group), slots+group.Count*int(group.Cores)
		power += float64(group.Count) * group.Cores * group.Speed
	}
	one := grid.Needs{Resources: grid.Resources{CPU: grid.CPU, Memory: 64 * grid.MiB}}
	s.Classes = []Class{{Name: "sh", Mean: time.Second, Needs: one, Retries: 3},
		{Name: "work", Mean: time.Second, Needs: one, Retries: 3},
		{Name: "data", Mean: time.Second, Needs: one, Retries: 3, Inputs: 200 * grid.MiB}}
	lengths := []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, time.Second, 3 * time.Second,
		8 * time.Second}
	at, traces := time.Duration(0), map[string][]Job{}
	for range 3 + r.IntN(4) {
		class, run := s.Classes[r.IntN(3)].Name, lengths[r.IntN(len(lengths))]
		n := 10 + r.IntN(60)
		gap := time.Duration(float64(run) / power * (0.6 + 2*r.Float64()))
		user := r.IntN(8) // 0: each from any node
		for range n {
			traces[class] = append(traces[class], Job{At: at, Run: run, Tasks: 1, User: user})
			at += gap
		}
		at += time.Duration(r.IntN(5000)) * time.Millisecond
	}
	at += time.Minute
	s.Warmup = s.Start + at
	bag := s.Classes[r.IntN(3)].Name
	traces[bag] = append(traces[bag], Job{At: at, Run: lengths[1+r.IntN(4)], Tasks: uint32(slots * (1 + r.IntN(4))),
		User: 1 + r.IntN(8)})
	for _, c := range s.Classes {
		if len(traces[c.Name]) > 0 {
			s.Streams = append(s.Streams, Stream{Class: c.Name, Trace: traces[c.Name]})
		}
	}
	s.Time = s.Warmup + time.Second
	s.Network.Latency = Span{Kind: Uniform, A: time.Millisecond, B: time.Duration(2+r.IntN(9)) * time.Millisecond}
	return s
}

// bags is what the bags of some histories cost.
type bags struct{ regret, busy, completion float64 }

func (b *bags) add(t *testing.T, s *Scenario) {
	t.Helper()
	if problems, _ := s.Check(); len(problems) > 0 {
		t.Fatal(problems)
	}
	r := &runner{s: s, done: make([]float64, 1), samples: make([]*sample, 1)}
	if err := r.replicate(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	m := r.samples[0]
	b.regret, b.busy, b.completion = b.regret+m.regret, b.busy+m.regretOver, b.completion+m.mean(s)
}

// maxRegret is the bar of the core-seconds idle where a waiting task would have ended sooner, over those busy.
const maxRegret = 0.02

// meets are the policies that keep maxRegret over 200 histories; the others that do not wait by their nature are
// measured, and are no worse than without pulls.
const meets = "lpas_dec mct two_choices random olb workqueue"

// After any history a bag of tasks leaves hardly a machine idle that would have ended one of them sooner; and pulls
// never make it last longer than without them.
func TestRegretOfHistories(t *testing.T) {
	policies := []string{"lpas_dec", "olb", "cheapest"}
	if *histories >= 100 {
		policies = append(policies, "mct", "two_choices", "kpb:2", "random", "workqueue")
	}
	for _, policy := range policies {
		var with, without bags
		for seed := range uint64(*histories) {
			with.add(t, history(seed, policy, true))
			without.add(t, history(seed, policy, false))
		}
		n := float64(*histories)
		regret := with.regret / with.busy
		t.Logf("bar: regret of %s after %d histories: %.2f %%, without pulls %.2f %% (at most %.0f %%); "+
			"mean completion %.3f s, without pulls %.3f s", policy, *histories, 100*regret, 100*without.regret/without.busy,
			100*maxRegret,
			with.completion/n, without.completion/n)
		if math.IsNaN(regret) || with.completion > without.completion || regret > without.regret/without.busy ||
			strings.Contains(meets, policy) && regret > maxRegret {
			t.Errorf("%s: regret %.2f %%, completion %.3f s; without pulls %.2f %%, %.3f s", policy, 100*regret,
				with.completion/n, 100*without.regret/without.busy, without.completion/n)
		}
	}
}
