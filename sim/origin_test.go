package sim

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// slowNine is a grid of nine nodes with registers of three members, with latencies as on an overloaded machine.
func slowNine() Config {
	c := replicated()
	c.Nodes = 9
	c.Network.Latency = Uniform(100*time.Millisecond, 700*time.Millisecond)
	return c
}

// checkThreeMembers checks that every acknowledged submission has three members.
func checkThreeMembers(t *testing.T, w *World) {
	t.Helper()
	for k := range w.cfg.Work {
		if j := w.books.Job(k); j.Confirmed && len(j.Members) != 3 {
			t.Errorf("submission %d was acknowledged and is kept by %d members, want 3", k, len(j.Members))
		}
	}
}

// Answers slower than half a second once made a register of one: its job was acknowledged and lost with its origin.
func TestSlowAnswersMakeNoSmallerRegister(t *testing.T) {
	c := slowNine()
	work(&c, 10*time.Second, 300*time.Millisecond, 20, []int{8}, spec("a", 2, grid.CPU))
	c.Faults = []Fault{{At: 25 * time.Second, Kind: Lose, Nodes: []int{8}}}
	play(t, c, func(t *testing.T, w *World, r Report) { checkThreeMembers(t, w) })
}

// A node that had just started, with no connections yet, once made itself the only member of jobs submitted to it.
func TestWhoHasJustStartedWaitsForOthers(t *testing.T) {
	c := slowNine()
	c.Network.Latency = Uniform(200*time.Microsecond, 20*time.Millisecond)
	for k := range 6 {
		at := time.Duration(20+10*k) * time.Second
		c.Faults = append(c.Faults, Fault{At: at, Kind: Crash, Nodes: []int{k}}, Fault{At: at + 3*time.Second, Kind: Restart,
			Nodes: []int{k}})
		work(&c, at+3*time.Second+time.Millisecond, 20*time.Millisecond, 4, []int{k}, spec("a", 2, grid.CPU))
		c.Faults = append(c.Faults, Fault{At: at + 9*time.Second, Kind: Crash, Nodes: []int{8 - k%3}},
			Fault{At: at + 9500*time.Millisecond, Kind: Restart, Nodes: []int{8 - k%3}})
	}
	c.Faults = append(c.Faults, Fault{At: 90 * time.Second, Kind: Lose, Nodes: []int{5}})
	play(t, c, func(t *testing.T, w *World, r Report) { checkThreeMembers(t, w) })
}

// If all other members fall silent when the job is written, its caller is told so in time, and can submit the same job
// again.
func TestSubmitFailsWithoutMajority(t *testing.T) {
	c := replicated()
	c.Nodes = 3
	c.Node = func(_ int, c *node.Config) { c.Capacity.CPU, c.Members, c.Confirm = 2*grid.CPU, 3, 3*time.Second }
	c.Network.Detect = 30 * time.Second // a cut is not noticed earlier
	work(&c, 10*time.Second, time.Second, 1, []int{0}, spec("a", 1, grid.CPU))
	c.Faults = []Fault{{At: 9500 * time.Millisecond, Kind: Cut, Nodes: []int{0}}, {At: 25 * time.Second, Kind: Heal}}
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.RunUntil(16 * time.Second); err != nil {
		t.Fatal(err)
	}
	if j := w.books.Job(0); j.Confirmed || !j.Rejected {
		t.Errorf("acknowledged %v, refused %v, when nobody else answered; want a refusal", j.Confirmed, j.Rejected)
	}
}
