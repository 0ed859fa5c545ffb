package net

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/sim"
)

// oneClass is a grid of a few cores with one class.
func oneClass(nodes int, mean time.Duration, rate float64) *Scenario {
	s := small()
	s.Replications, s.Faults = 1, nil
	s.Groups = []Group{{Name: "n", Count: nodes, Cores: 1, Memory: grid.GiB, Speed: 1}}
	s.Classes = []Class{{Name: "a", Mean: mean, Size: sim.Exponential(),
		Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}, Retries: 1000}}
	s.Streams = []Stream{{Class: "a", Rate: rate}}
	return s
}

// Growth is detected whatever the warm-up's length: in the time after a long warm-up alone, a grid that has been
// filling up for long hardly grows.
func TestGrowthIsSeenBehindAWarmup(t *testing.T) {
	for _, warmup := range []time.Duration{20 * time.Second, 400 * time.Second, 560 * time.Second} {
		s := oneClass(4, time.Second, 1.5)
		s.Node.Policy, s.Time, s.Warmup = "local", 600*time.Second, warmup
		s.Groups = append(s.Groups, s.Groups[0])
		s.Groups[0].Count, s.Groups[1].Name, s.Streams[0].From = 1, "m", []string{"n"}
		if r := run(t, s); r.Stable {
			t.Errorf("warm-up %v: 1.5 tasks a second on one core are stable", warmup)
		}
		s.Node.Policy = "mct"
		if r := run(t, s); !r.Stable {
			t.Errorf("warm-up %v: 1.5 tasks a second on five cores are unstable", warmup)
		}
	}
}

// Tasks that take longer than a grid of short ones needs to end are no failure.
func TestBoundAllowsLongTasks(t *testing.T) {
	bound := func(s *Scenario) (b, longest, all time.Duration) {
		w := s.world(1)
		w.Sizes(func(_ string, size float64) {
			d := grid.Seconds(size * s.Classes[0].Mean.Seconds())
			longest, all = max(longest, d), all+d
		})
		return w.Bound, longest, all
	}
	s := oneClass(2, time.Second, 0)
	s.Streams[0] = Stream{Class: "a", Trace: []Job{{Run: 150 * time.Hour, Tasks: 12}}}
	s.Time = 60 * 24 * time.Hour
	if b, _, _ := bound(s); b < 12*150*time.Hour {
		t.Errorf("a world with twelve tasks of 150 hours has %v to end", b)
	}
	s = oneClass(2, 100*time.Hour, 1e-3)
	s.Time = time.Hour
	b, longest, all := bound(s)
	if longest == 0 || b < all+minBound {
		t.Errorf("a world with tasks of up to %v, of %v together, has %v to end", longest, all, b)
	}
	s.Faults = []Fault{{At: time.Second, Kind: sim.Slow, Factor: 7}, {At: time.Minute, Kind: sim.Share, Factor: 0.25}}
	if b, _, _ := bound(s); b < 28*all {
		t.Errorf("a world of tasks of %v that are slowed by 7 on a quarter of the cores has %v to end", all, b)
	}
	s = oneClass(2, time.Second, 1e-9)
	s.Time = 100 * 365 * 24 * time.Hour
	if b, _, _ := bound(s); b <= 0 || b > maxBound {
		t.Errorf("a world of a hundred years has %v to end", b)
	}
}

// Tasks that never end are detected within the duration of a feasible run.
func TestBoundIsNotTooLong(t *testing.T) {
	s := oneClass(1000, time.Hour, 0.2)
	s.Time = 10 * time.Minute
	if b := s.world(1).Bound; b > 30*24*time.Hour {
		t.Errorf("120 tasks of an hour have %v to end", b)
	}
	s = oneClass(3, time.Hour, 1e-3)
	s.Time = 10 * time.Minute
	if b := s.world(1).Bound; b > 4*24*time.Hour {
		t.Errorf("a task of an hour or two has %v to end", b)
	}
}

// Tasks submitted before the end of the warm-up are not measured, even if everything was over by then, and the mean of
// nothing is not 0.
func TestNothingMeasuredIsNoNumber(t *testing.T) {
	s := oneClass(3, time.Second, 0)
	s.Classes = append(s.Classes, s.Classes[0])
	s.Classes[1].Name = "never"
	s.Streams[0] = Stream{Class: "a", Trace: []Job{{Run: time.Second, Tasks: 3}}}
	s.Warmup = 40 * time.Second
	r := run(t, s)
	if r.Tasks != 3 || r.Ended != 3 || r.Classes[0].Tasks != 0 || !math.IsNaN(r.Classes[0].P99.Mean) ||
		!math.IsNaN(r.Completion.Mean) || !math.IsNaN(r.Searches.Hops.Mean) {
		t.Errorf("%+v", r)
	}
	b, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(b), `"p99":{"mean":null}`) {
		t.Errorf("%v: %s", err, b)
	}
}

// An interrupt stops the run between two samples, of which there are few.
func TestRunStopsOnCancel(t *testing.T) {
	s := oneClass(50, time.Second, 20)
	s.Time, s.Warmup = 1000*time.Hour, 0
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	s.Streams[0].Rate = 0.01 // else drawing the arrivals takes longest
	r, err := Run(ctx, s, nil)
	if err != nil || r.Complete || time.Since(began) > time.Minute {
		t.Errorf("%v, complete %v, after %v", err, r != nil && r.Complete, time.Since(began))
	}
}

func TestChecksOfFaultsAndSessions(t *testing.T) {
	s := oneClass(10, time.Second, 1)
	s.Groups[0].Up, s.Groups[0].Down = Span{Kind: Exponential, A: time.Millisecond}, Span{Kind: Constant, A: time.Second}
	s.Time = 300 * 24 * time.Hour
	s.Faults = []Fault{{At: time.Second, Kind: sim.Crash, Nodes: []Pick{{Share: 0.01, From: -1, To: -1},
		{Group: "zz", From: 0, To: 100}}}}
	problems, _ := s.Check()
	all := ""
	for _, p := range problems {
		all += p.Where + ": " + p.What + "\n"
	}
	for _, want := range []string{"nodes: about 1.3e+08 sessions and loads end before time",
		"faults.0: 1 % of 10 nodes is none of them", `faults.0: nodes "zz": is no group`} {
		if !strings.Contains(all, want) {
			t.Errorf("does not say %q:\n%s", want, all)
		}
	}
	if strings.Contains(all, "nodes up to 100") {
		t.Errorf("judges positions in a group that there is not:\n%s", all)
	}
}

func TestTraceBounds(t *testing.T) {
	const tail = " 1 -1 -1 1 -1 -1 1 7 1 -1 1 -1 -1 -1\n"
	text := "1 0 -1 5" + tail + "2 9e14 -1 5" + tail + "3 9e14 -1 9e14" + tail + strings.Repeat("x\n", 30)
	_, err := ReadSWF("t", text)
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxTraceErrors+1 || !strings.HasPrefix(lines[0], "t:2: submit time 9e+14") ||
		lines[maxTraceErrors] != "t: and 22 more malformed lines" {
		t.Errorf("%d lines:\n%s", len(lines), err)
	}
}
