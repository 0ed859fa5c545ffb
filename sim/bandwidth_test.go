package sim

import (
	"testing"
	"time"

	"skep/grid"
)

// A node's messages are sent one after the other, whatever their destination: the n-th of 1000 bytes at 10,000 bytes a
// second arrives n tenths of a second and a latency later. Other nodes' messages do not wait for them.
func TestMessagesQueueForTheSendersLink(t *testing.T) {
	w, all := probes(t, Config{Nodes: 4, Network: Network{Mesh: true, Latency: Constant(5 * time.Millisecond),
		Bandwidth: 10_000,
		Size:      func(*grid.Message) int { return 1000 }}})
	runUntil(t, w, 20*time.Second)
	var began [4]grid.Time // by the nodes' clocks
	mark := func() {
		for i := range began {
			began[i] = w.Local(i)
		}
	}
	came := func(i int) (at []time.Duration) {
		for _, h := range all[i].observed {
			if h.kind == grid.EvMessage && h.now >= began[i] {
				at = append(at, h.now.Sub(began[i]))
			}
		}
		return at
	}
	mark()
	sendPolls(w, 0, 1, 2)
	sendPolls(w, 0, 2, 1)
	sendPolls(w, 3, 1, 1)
	runUntil(t, w, 25*time.Second)
	ms := time.Millisecond
	for i, want := range map[int][]time.Duration{1: {105 * ms, 105 * ms, 205 * ms}, 2: {305 * ms}} {
		got := came(i)
		if len(got) != len(want) {
			t.Fatalf("node %d heard at %v, want %v", i, got, want)
		}
		for k := range got {
			if got[k] != want[k] {
				t.Errorf("node %d heard at %v, want %v", i, got, want)
				break
			}
		}
	}
	// The link is idle again after a while: a later message does not wait.
	mark()
	sendPolls(w, 0, 3, 1)
	runUntil(t, w, 30*time.Second)
	if got := came(3); len(got) != 1 || got[0] != 105*ms {
		t.Errorf("later: heard at %v, want 105ms", got)
	}
}

// A restarted node has no queued messages.
func TestCrashEmptiesTheLink(t *testing.T) {
	w, _ := probes(t, Config{Nodes: 2, Network: Network{Bandwidth: 1000, Size: func(*grid.Message) int { return 1000 }},
		Faults: []Fault{{At: 3 * time.Second, Kind: Crash, Nodes: []int{0}},
			{At: 4 * time.Second, Kind: Restart, Nodes: []int{0}}}})
	runUntil(t, w, 2*time.Second)
	sendPolls(w, 0, 1, 100)
	runUntil(t, w, 10*time.Second)
	if d := w.transmitDelay(0, 1000); d != time.Second {
		t.Errorf("a message takes %v to be on the wire after a restart, want 1s", d)
	}
}
