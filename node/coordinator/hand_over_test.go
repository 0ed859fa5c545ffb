package coordinator_test

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// handOver has a node tell another that it keeps slots for no gang any more, as if it answered the last question that
// an owner asked a worker.
func (w *network) handOver(from, to, owner, worker string) {
	asked := w.sent[sending{owner, worker, "reserve"}].ev.Msg.Reserve
	m := &grid.Message{Kind: grid.KindReserveAck, Reserve: &grid.Reserve{Job: asked.Job, Attempt: asked.Attempt,
		Round: asked.Round, Needs: asked.Needs, Refusal: grid.Refusal{Why: grid.WhyHandOver}}}
	d, o := w.member(from), w.member(to)
	w.post(&due{at: w.now.Add(oneWay), from: d, to: o, ev: grid.Event{Kind: grid.EvMessage, Peer: d.cfg.Self, Msg: m}})
}

// A worker that has no slots says without end that it keeps none for other gangs. The gang asks for later slots there
// no more than in every other round, and starts at other nodes when they are free.
func TestEndlessHandOvers(t *testing.T) {
	w := newNetwork()
	do := w.must(t)
	do("start a b d e f cpus=2", "submit b job8 on=d count=2", "submit b job9 on=f count=2", "run",
		"submit a job1 ranks=4 on=d,e,f", "run", "advance 20ms")
	tell := func(span time.Duration) {
		for end := w.now.Add(span); w.now < end; {
			w.events = 0
			w.handOver("d", "a", "a", "d")
			w.advance(10 * time.Millisecond)
		}
	}
	tell(5 * time.Second)
	if !strings.Contains(w.out.String(), "a -> d reserve job1#1.1, 2 ranks, later too") {
		t.Fatal("want that the gang asks for later slots, as the worker says")
	}
	for _, task := range []string{"f job9/0", "f job9/1"} {
		do("end " + task + " exit 0")
	}
	tell(25 * time.Second)
	for _, start := range []string{"e starts job1/", "f starts job1/"} {
		if !strings.Contains(w.out.String(), start) {
			t.Errorf("%q: want that the gang runs at the nodes that are free", start)
		}
	}
}

// A node that was not asked for slots cannot end a gang's pause, nor can one that was asked by another owner.
func TestForgedHandOvers(t *testing.T) {
	w := newNetwork()
	do := w.must(t)
	do("start a b d e f cpus=2", "submit b job8 on=d count=2", "submit b job9 on=e count=2", "run",
		"submit a job1 ranks=4 on=d,e", "run", "submit b job2 ranks=4 on=d,e", "run")
	asks := func() bool {
		began := w.out.Len()
		do("run")
		return strings.Contains(w.out.String()[began:], " reserve job")
	}
	w.handOver("f", "a", "a", "d")
	w.handOver("b", "a", "a", "d")
	w.handOver("d", "a", "b", "d")
	w.handOver("d", "b", "a", "d")
	if asks() {
		t.Error("want that nothing is asked: it was not asked itself, or not by that owner")
	}
	if w.handOver("d", "a", "a", "d"); !asks() {
		t.Error("want that the gang asks when a node that it has asked says so")
	}
}
