package node

import (
	"fmt"
	"testing"
	"time"

	"skep/grid"
)

// steadyNode is a node with 32 connected peers that have exchanged rates with it.
func steadyNode(t testing.TB) (*Node, []*grid.Event, *grid.Effects) {
	c := config(selfID)
	c.Capacity.CPU = 8 * grid.CPU
	n, err := New(c, grid.Wall{Zero: time.Unix(1_700_000_000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	fx := &grid.Effects{}
	now := grid.Time(1e9)
	step := func(ev *grid.Event) { now += 1e6; fx.Reset(); n.Step(now, ev, fx) }
	step(&grid.Event{Kind: grid.EvStart})
	var events []*grid.Event
	for i := range 32 {
		id := grid.NodeID{9, byte(i)}
		step(&grid.Event{Kind: grid.EvPeerUp, Peer: id, RTT: time.Millisecond, Kinds: grid.AllKinds})
		ad := &grid.Ad{Node: id, Seq: grid.Seq{Boot: 1, N: 1}, Speed: 1, Availability: 1,
			Engines:  []string{grid.EngineProcess},
			Capacity: grid.Resources{CPU: grid.CPU}, Free: grid.Resources{CPU: grid.CPU},
			Rates: []grid.Rate{{Class: "a", Alpha: 1, Mu: 2}}}
		events = append(events, &grid.Event{Kind: grid.EvMessage, Peer: id, Msg: &grid.Message{Kind: grid.KindDigest,
			Digest: []grid.AdEntry{{Ad: ad}}}},
			&grid.Event{Kind: grid.EvMessage, Peer: id,
				Msg: &grid.Message{Kind: grid.KindPoll, Poll: grid.Poll{ID: uint64(i), Class: "a",
					Needs: oneCore, Speed: 1, Cores: grid.CPU, Mine: 2, Have: 1, Rates: []grid.Rate{{Class: "a", Alpha: 1, Mu: 2}}}}},
			&grid.Event{Kind: grid.EvWake, Timer: grid.Timer{Kind: grid.TimerLease, Key: 12345}},
			&grid.Event{Kind: grid.EvWake, Timer: grid.Timer{Kind: grid.TimerGossip}})
	}
	for _, ev := range events {
		step(ev)
		step(ev)
	}
	return n, events, fx
}

func TestStepAllocatesNothingInTheSteadyState(t *testing.T) {
	n, events, fx := steadyNode(t)
	now := grid.Time(10e9)
	got := testing.AllocsPerRun(100, func() {
		for _, ev := range events {
			now += 1e5
			fx.Reset()
			n.Step(now, ev, fx)
		}
	})
	if got > 0 {
		t.Errorf("%.2f allocations for %d polls, digests and timers, want none", got, len(events))
	}
}

func TestAcceptedOfferAllocatesLittle(t *testing.T) {
	n, _, fx := steadyNode(t)
	now := grid.Time(10e9)
	s := spec(nil)
	class := grid.ClassOf(s)
	from := grid.NodeID{9, 1}
	i := uint32(0)
	ev := &grid.Event{Kind: grid.EvMessage, Peer: from, Msg: &grid.Message{Kind: grid.KindOffer}}
	ended := &grid.Event{Kind: grid.EvEnded, Result: exitZero}
	ack := &grid.Event{Kind: grid.EvMessage, Peer: from, Msg: &grid.Message{Kind: grid.KindResultAck,
		Attempts: make([]grid.AttemptID, 1)}}
	got := testing.AllocsPerRun(1000, func() {
		i++
		id := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: from, Nonce: [10]byte{byte(i), byte(i >> 8)}}},
			Attempt: grid.Attempt{Epoch: 1, N: 1}}
		ev.Msg.Offer = grid.Offer{ID: id, Spec: s, Class: class, Lease: 6 * time.Second}
		ended.Attempt, ack.Msg.Attempts[0] = id, id
		for _, e := range []*grid.Event{ev, ended, ack} {
			now += 1e6
			fx.Reset()
			n.Step(now, e, fx)
		}
		if len(n.worker.Exec().Finished()) != 0 {
			panic(fmt.Sprint("not acknowledged: ", id))
		}
	})
	if got > 2 {
		t.Errorf("%.2f allocations for an offer accepted, run and acknowledged, want at most 2", got)
	}
}
