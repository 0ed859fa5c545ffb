package sim

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

var swarmFlag = flag.Int("sim.swarm", 100, "number of random worlds of TestSwarm")

// swarm draws a world of the real node in which everything goes wrong at once.
func swarm(seed uint64) Config {
	r := grid.NewRand(seed, 77)
	n := 2 + r.IntN(9)
	share := func(most float64) float64 { return most * max(0, r.Float64()*1.5-0.5) } // a third has none
	lo := time.Duration(1+r.IntN(20)) * 500 * time.Microsecond
	c := Config{Seed: seed, Nodes: n, Check: CheckPoison, Rest: 30 * time.Second,
		Network: Network{Latency: Uniform(lo, lo*time.Duration(1+r.IntN(20))), Mesh: r.IntN(2) == 0, Join: 1 + r.IntN(3),
			Loss: share(0.25), Duplicate: share(0.2), Reorder: share(0.3), Detect: time.Duration(r.IntN(5000)) * time.Millisecond},
		Disk:   Disk{Sync: time.Duration(r.IntN(3)) * 5 * time.Millisecond},
		Spread: time.Duration(r.IntN(3)) * time.Second,
		Repeat: fmt.Sprintf("go test ./sim -run '^TestSwarm$' -sim.seed=%d", seed),
	}
	policies := []string{"lpas_dec", "lpas_dec", "mct", "random", "two_choices", "local", "kpb:2", "olb"} // met waits for a rate that only a run would teach
	policy := policies[r.IntN(len(policies))]
	c.Node = func(i int, c *node.Config) {
		c.Capacity.CPU = grid.CPU * grid.MilliCPU(1+splitmix(seed+uint64(i))%4)
		c.Policy = policy
	}
	classes := []string{"a", "b", "c"}[:1+r.IntN(3)]
	c.Machine = Machine{Size: Exponential(), Overhead: 2 * time.Millisecond,
		Rate: func(class string, i int) float64 {
			x := splitmix(seed ^ uint64(class[0])<<32 ^ uint64(i))
			if x%7 == 0 && policy != "local" { // which would wait for ever
				return 0
			}
			return 0.1 + float64(x>>8%100)/50
		},
		End: func(a grid.AttemptID, _ string, i int) Ending {
			if splitmix(uint64(a.Task.Index)+seed)%11 == 0 {
				return Ending{Exit: 3}
			}
			return Ending{}
		}}
	at := time.Duration(0)
	for range 4 + r.IntN(12) {
		s := spec(classes[r.IntN(len(classes))], uint32(1+r.IntN(8)), grid.CPU*grid.MilliCPU(1+r.IntN(2)))
		if policy == "local" {
			s.Needs.CPU = grid.CPU
		}
		s.Retries = []int32{0, 2, 1000}[r.IntN(3)]
		if r.IntN(6) == 0 {
			s.Inputs = []grid.File{{Path: "data", Blob: grid.BlobID{byte(1 + r.IntN(3))}, Size: grid.MiB}}
		}
		at += time.Duration(r.IntN(5000)) * time.Millisecond
		sub := Submission{At: at, Node: r.IntN(n), Spec: s}
		if r.IntN(8) == 0 {
			sub.Cancel = at + time.Duration(r.IntN(5000))*time.Millisecond
		}
		c.Work = append(c.Work, sub)
	}
	c.Faults = DrawFaults(r, n, r.IntN(7), time.Minute)
	return c
}

func TestSwarm(t *testing.T) {
	begin := time.Now()
	steps := uint64(0)
	for _, seed := range seeds(*swarmFlag) {
		c := swarm(seed)
		if *logFlag {
			c.Log = func(line string) { fmt.Println(line) }
		}
		w, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		r, err := w.Run()
		if err != nil {
			t.Error(err)
		}
		steps += r.Steps
	}
	t.Logf("%d steps, %.0f a second", steps, float64(steps)/time.Since(begin).Seconds())
}
