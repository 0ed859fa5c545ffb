package sim

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// spec is a small job.
func spec(class string, count uint32, cpu grid.MilliCPU) *grid.JobSpec {
	return &grid.JobSpec{Class: class, Engine: grid.EngineProcess, Command: []string{"work"}, Count: count, Retries: 1000,
		Needs: grid.Needs{Resources: grid.Resources{CPU: cpu, Memory: grid.MiB}}}
}

// toys is a world of toys with all faults of the network and disks.
func toys(seed uint64, bug string) Config {
	r := grid.NewRand(seed, 99)
	n := 3 + r.IntN(6)
	c := Config{Seed: seed, Nodes: n, Make: makeToy(bug), Check: CheckPoison, Rest: time.Minute,
		Network: Network{Latency: Uniform(time.Millisecond, 30*time.Millisecond), Loss: 0.1, Duplicate: 0.05, Reorder: 0.1},
		Machine: Machine{Size: Exponential(), Rate: func(string, int) float64 { return 0.2 }},
		Disk:    Disk{Sync: 3 * time.Millisecond},
		Faults:  DrawFaults(r, n, 4, 2*time.Minute),
		Drawn:   Drawn{Repeat: fmt.Sprintf("go test ./sim -run TestToys -sim.seed=%d", seed)},
	}
	for k := range 8 {
		c.Work = append(c.Work, Submission{At: time.Duration(k) * 5 * time.Second, Node: r.IntN(n),
			Spec: spec("a", uint32(1+r.IntN(6)), grid.CPU)})
	}
	return c
}

func finish(t *testing.T, c Config) (*World, Report) {
	t.Helper()
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Run()
	if err != nil {
		t.Fatal(err)
	}
	if *seedFlag == 0 {
		goldenDigests.Add(t, r.Digest)
	}
	return w, r
}

func TestToys(t *testing.T) {
	for _, seed := range seeds(40) {
		_, r := finish(t, toys(seed, ""))
		if r.Ended != r.Tasks {
			t.Fatalf("seed %d: %d of %d tasks ended", seed, r.Ended, r.Tasks)
		}
	}
}

// Every bug must be found, in most worlds where it matters; one seed in forty is enough.
func TestWorldDetectsBugs(t *testing.T) {
	for bug, want := range map[string]string{
		"answers before it saves": "of which nothing is on its disk",
		"gives up":                "tasks have not ended",
		"never forgets":           "work records",
		"takes late results":      "records the end of",
		"starts twice":            "which runs on",
		"offers an attempt twice": "has accepted",
		"overbooks":               "free of 4 cpu",
		"accepts before it saves": "which is not on its disk",
		"thanks before it saves":  "which is not on its disk",
		"panics":                  "panic: the end of the world",
		"miscounts":               "pending +",
		"boasts":                  "says of itself what cannot be: free",
		"misreads":                "as something else than was submitted",
	} {
		found := false
		for seed := uint64(1); seed <= 40 && !found; seed++ {
			w, err := New(toys(seed, bug))
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.Run()
			var f *Failure
			if !errors.As(err, &f) {
				continue
			}
			found = true
			if s := err.Error(); !strings.Contains(s, want) || !strings.Contains(s, fmt.Sprintf("-sim.seed=%d", seed)) {
				t.Errorf("a node that %s: found %q, want it to say %q and how to repeat it", bug, s, want)
			}
		}
		if !found {
			t.Errorf("a node that %s is not found", bug)
		}
	}
}

// A world without checks runs on where a check would stop it, and takes the same steps where none would.
func TestWorldWithoutChecks(t *testing.T) {
	run := func(c Config) (Report, error) {
		w, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		return w.Run()
	}
	bare := func(c Config) Report {
		c.Check, c.NoDigest = CheckNothing, true
		r, err := run(c)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for seed := range uint64(40) {
		c := toys(seed+1, "misreads")
		if _, err := run(c); err == nil {
			continue
		}
		if r := bare(c); r.Digest != 0 || r.Ended != r.Tasks {
			t.Fatalf("digest %x, %d of %d tasks ended", r.Digest, r.Ended, r.Tasks)
		}
		c = toys(seed+1, "")
		with, err := run(c)
		if without := bare(c); err != nil || without.Steps != with.Steps || without.Traffic != with.Traffic {
			t.Errorf("%d steps without checks, %d with them; %v", without.Steps, with.Steps, err)
		}
		return
	}
	t.Error("no world in which the checks find anything")
}

func TestDigestIsTheSameForTheSameSeedAlone(t *testing.T) {
	_, first := finish(t, toys(7, ""))
	_, again := finish(t, toys(7, ""))
	before := runtime.GOMAXPROCS(1)
	_, one := finish(t, toys(7, ""))
	runtime.GOMAXPROCS(2)
	_, two := finish(t, toys(7, ""))
	runtime.GOMAXPROCS(before)
	if first.Digest != again.Digest || first.Digest != one.Digest || first.Digest != two.Digest {
		t.Errorf("digests %x, again %x, one core %x, two cores %x: want the same", first.Digest, again.Digest, one.Digest,
			two.Digest)
	}
	_, real := finish(t, Swarm(7))
	runtime.GOMAXPROCS(1)
	_, again = finish(t, Swarm(7))
	runtime.GOMAXPROCS(before)
	if real.Digest != again.Digest {
		t.Errorf("real nodes: digests %x and %x, want the same", real.Digest, again.Digest)
	}
	if _, other := finish(t, toys(8, "")); other.Digest == first.Digest {
		t.Errorf("seeds 7 and 8 have the digest %x", other.Digest)
	}
}

func TestConfigReportsAllProblems(t *testing.T) {
	_, err := New(Config{Nodes: 0, Network: Network{Loss: 2}, Machine: Machine{Overhead: -1}, Disk: Disk{Sync: -1},
		Work:   []Submission{{At: 2, Node: 5, Spec: spec("a", 1, 1)}, {At: 1, Node: 0}},
		Faults: []Fault{{Kind: 77}, {Kind: Slow, Factor: 0.5}, {Kind: Crash, Nodes: []int{-1}}}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"nodes 0", "loss 2", "overhead -1ns", "sync -1ns", "submission 0 to node 5",
		"submission 1 at 1ns",
		"submission 1: has no job", "kind 77", "slow by 0.5", "crash of node -1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not say %q:\n%v", want, err)
		}
	}
}
