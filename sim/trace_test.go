package sim

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// A new node that is fed a trace takes the same steps.
func TestTraceIsReplayed(t *testing.T) {
	w, err := New(benchGrid(20, time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	trace, err := RecordTrace(w, 0, 2000, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if len(trace) < 500 || trace[0].Event.Kind != grid.EvStart {
		t.Fatalf("%d events, want some hundred from the start on", len(trace))
	}
	replay := func() digest {
		cfg, wall := w.NodeConfig(0)
		n, err := node.New(cfg, wall)
		if err != nil {
			t.Fatal(err)
		}
		var d digest
		var fx grid.Effects
		for _, e := range trace {
			fx.Reset()
			n.Step(e.Now, e.Event, &fx)
			d.effects(&fx)
		}
		if got, want := n.Stats(0).Received, w.Member(0).Stats(0).Received; got != want {
			t.Errorf("the replayed node has received %v, the recorded one %v", got, want)
		}
		return d
	}
	if a, b := replay(), replay(); a != b {
		t.Errorf("two replays differ: %x, %x", a, b)
	}
}

// echo answers each poll with a poll, and wakes itself: the engine's work in the steady state.
type echo struct {
	probe
	peer grid.NodeID
}

func (e *echo) Step(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	switch ev.Kind {
	case grid.EvPeerUp:
		e.peer = ev.Peer
		e.say(fx)
	case grid.EvMessage:
		e.say(fx)
		fx.Wake(now.Add(time.Millisecond), grid.TimerAd, 1)
	}
}

func (e *echo) say(fx *grid.Effects) {
	m := fx.Send(e.peer, grid.KindPoll)
	m.Poll.Rates = append(m.Poll.Rates, grid.Rate{Class: "a", Mu: 1})
	m.Attempts = append(m.Attempts, grid.AttemptID{})
}

func TestEngineDoesNotAllocateWhenWarm(t *testing.T) {
	w, err := New(Config{Seed: 1, Nodes: 2, Network: Network{Latency: Uniform(time.Millisecond, 2*time.Millisecond)},
		Make: func(node.Config, grid.Wall) (Member, error) { return &echo{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	runUntil(t, w, 10*time.Second)
	before := w.steps
	n := testing.AllocsPerRun(10, func() { runUntil(t, w, w.Now()+time.Second) })
	if steps := float64(w.steps-before) / 11; steps < 1000 || n > steps/1000 {
		t.Errorf("%v allocations in %v steps, want none to speak of", n, steps)
	}
}

// RecordTrace runs w for a time, or until node has taken n steps, and returns the events of these steps. A new node
// made from w.NodeConfig takes the same steps, unless the node was restarted in between.
func RecordTrace(w *World, node, n int, within time.Duration) ([]TraceEvent, error) {
	w.tap = tap{node: int32(node), most: n}
	w.recoverPanics(func() {
		for w.fail == nil && len(w.tap.events) < n && w.processNext(grid.Time(within)) {
		}
	})
	events := w.tap.events
	w.tap = tap{node: -1}
	return events, w.err()
}
