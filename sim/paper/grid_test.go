package paper

import (
	"context"
	"testing"

	"skep/sim/brokers"
)

// A grid that gets one hundredth too much is full under every family of policies, also where the work that came in a
// short run happens to be less than it can do.
func TestGridOverloadedByAHundredth(t *testing.T) {
	s := &brokers.System{Name: "S|L|L", Clusters: [][]string{{"S"}, {"L"}, {"L"}},
		Classes: []brokers.Class{{Name: "S", Part: 0.95, Demand: [2]float64{25, 75}},
			{Name: "L", Part: 0.05, Demand: [2]float64{1000, 1100}}}}
	hidden := 0
	for _, policy := range []string{"cb", "cb_rr", "cb_frr", "cb_rr2", "cb_li", "cb_lis", "cb_spill", "mct", "mct_queued",
		"olb", "two_choices", "random"} {
		rate := 1.01 * s.Limit(policy)
		for seed := range uint64(3) {
			r, err := brokers.Simulate(context.Background(), s, brokers.Options{Policies: []string{policy}, Rate: rate,
				Warmup: 100, Jobs: 1000, Replications: 2, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			x := sumUp(s, rate, &r[0])
			if x.Stable {
				t.Errorf("%s, seed %d: a load of 1.01 is called stable", policy, seed)
			}
			most := 0.0
			for j := range r[0].Runs[0].Load {
				load, _ := mean(r[0].Runs, func(x *brokers.Run) float64 { return x.Load[j] })
				most = max(most, load)
			}
			if most < 1 {
				hidden++
			}
		}
	}
	if hidden == 0 {
		t.Error("every run shows by itself that it fills up: the test is no test")
	}
}
