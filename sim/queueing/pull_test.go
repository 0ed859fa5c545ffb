package queueing

import (
	"math"
	"testing"
)

// With a delay d a machine is held by a task for the request, the way to it and its execution. Requests wait at the
// scheduler, so that one machine is an M/G/1 queue with service times x + 2d, of which the last d is behind the end
// of the execution:
//
//	W = lambda·E[(x + 2d)²]/(2·(1 − rho)) + d + 1/mu,   rho = lambda·(1/mu + 2d)
func TestTakenWithDelay(t *testing.T) {
	const lambda, mu, d = 0.5, 1.0, 0.2
	for _, service := range []Distribution{{}, {Kind: Deterministic}} {
		s := simple(lambda, mu, 1)
		s.Delay, s.Service = d, service
		held := 1/mu + 2*d
		want := lambda*(held*held+service.SCV()/(mu*mu))/(2*(1-lambda*held)) + d + 1/mu
		for _, policy := range []string{"fcfs", "gcmu", "lpas_dg"} {
			closed(t, s, policy, 200_000, want, 0.03)
		}
	}
}

// M/M/c with a delay: nothing is nearer than d, and a machine that is idle has asked already.
func TestTakenWithDelayWhereNothingWaits(t *testing.T) {
	s := simple(0.02, 1, 5)
	s.Delay = 0.3
	closed(t, s, "fcfs", 400_000, 1+0.3, 0.03)
}

// A task on its way to a machine that fails goes back to the head of its queue at once; a request that was under way
// when its machine failed is void, and the machine asks again when it is up.
func TestFaultsVoidWhatIsUnderWay(t *testing.T) {
	s := simple(0.5, 1, 1)
	s.Delay, s.Failures = 1, []Failures{{Rate: 1e-6, MeanFault: 1}}
	e := mustEngine(t, s, "fcfs")
	p, m := e.pull, &e.machines[0]
	e.arrival = math.Inf(1)
	come := func(at float64) {
		e.now = at
		e.books.inside++
		p.arrive(e, task{since: at, size: 10})
	}
	land := func(at float64) {
		t.Helper()
		if next := p.flights.next(); next != at {
			t.Fatalf("next to arrive at %g, want %g", next, at)
		}
		e.now = at
		p.land(e)
	}
	come(0) // the idle machine has asked: the task is on its way
	come(0.5)
	if p.queued != 1 || !math.IsInf(m.done, 1) {
		t.Fatalf("%d tasks wait and one is done at %g: want 1, and none before it is there", p.queued, m.done)
	}
	e.now = 0.6
	e.flip(0)
	if q := &p.queues[0]; p.queued != 2 || q.first().since != 0 {
		t.Fatalf("%d tasks wait, the first of %g: want 2, of 0", p.queued, q.first().since)
	}
	e.now = 0.7
	e.flip(0) // up again, and asks
	land(1)   // what was on its way
	if m.queue.n != 0 {
		t.Fatal("a task arrives that had gone back")
	}
	land(1.7) // the request
	land(2.7) // the task
	if m.queue.n != 1 || m.queue.first().since != 0 || math.IsInf(m.done, 1) {
		t.Fatalf("%d tasks are at the machine, done at %g: want the first, in execution", m.queue.n, m.done)
	}
	end := m.done
	e.now = end
	e.complete(0)
	e.now = end + 0.2
	e.flip(0)
	e.now = end + 0.4
	e.flip(0)
	land(end + 1) // the request from before the fault
	if p.queued != 1 {
		t.Error("a request from before a fault was heard")
	}
	land(end + 0.4 + 1)
	if p.queued != 0 {
		t.Error("a machine that came up does not ask")
	}
}

// What a machine can carry under a pull policy is what the delay leaves of it, whatever the policy is told. A policy
// that is told the corrected rates solves the LP for just that.
func TestLimitWithDelay(t *testing.T) {
	s := simple(0.7, 1, 1)
	s.Delay = 0.2
	for _, policy := range []string{"fcfs", "gcmu", "lpas_dg"} {
		if got := s.Limit(policy, &Options{}); !near(Number(got), 1/(0.7*1.4), 1e-9) {
			t.Errorf("%s: limit %g, want %g", policy, got, 1/(0.7*1.4))
		}
	}
	if got := s.Limit("mct", &Options{}); !near(Number(got), 1/0.7, 1e-9) {
		t.Errorf("mct: limit %g, want %g: the delay holds no machine", got, 1/0.7)
	}
	s.Availability = []Availability{{Fixed: 0.5}}
	s.Alpha = []float64{0.4}
	if got := s.Limit("lpas_dg", &Options{}); !near(Number(got), 1/(0.4*2.4), 1e-9) {
		t.Errorf("half a machine: limit %g, want %g", got, 1/(0.4*2.4))
	}
	for told, want := range map[Told]float64{Nominal: 0.5 / 0.4, Corrected: 1 / (0.4 * 2.4)} {
		s.Told = told
		e := mustEngine(t, s, "lpas_dg")
		e.pull.arrive(e, task{size: 1})
		if got := e.pull.policy.(interface{ Lambda() float64 }).Lambda(); !near(Number(got), want, 1e-9) {
			t.Errorf("told %q: lambda %g, want %g", told, got, want)
		}
	}
}
