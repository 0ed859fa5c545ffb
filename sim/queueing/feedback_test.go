package queueing

import (
	"math"
	"sync/atomic"
	"testing"

	"skep/balance"
)

// mustEngine is a run that has not begun.
func mustEngine(t *testing.T, s *System, policy string) *engine {
	t.Helper()
	var stop atomic.Bool
	e, err := newEngine(s, policy, &Options{Time: 1000, Seed: 1}, 0, &stop)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// knows reports whether decider d has the column of machine j as it is.
func (e *engine) knows(d, j int) bool { return e.push.known[d*e.m+j] == e.rates.version[j] }

// shifted is System 4.A after machines a and b have found their rates to be others: each knows its own.
func shifted(t *testing.T, delay float64, a, b int) *engine {
	t.Helper()
	s := system4A(false)
	s.Delay = delay
	e := mustEngine(t, s, "lpas_dec")
	for _, j := range []int{a, b} {
		for i := range e.n {
			e.rates.entries[i*e.m+j] *= 1.5
			e.rates.mu[j*e.n+i] *= 0.5
		}
		e.news(j)
	}
	if !e.knows(a, a) || !e.knows(b, b) || e.knows(a, b) || e.knows(b, a) {
		t.Fatal("want each to know its own rates and not those of the other")
	}
	return e
}

// solved is the optimum over what decider d knows.
func (e *engine) solved(d int) float64 {
	e.push.look(e, d, 0, e.clock())
	e.push.policies[d].Poll(e.clock(), &e.push.tasks[0], e.push.view, nil)
	return e.push.policies[d].(balance.Solver).Lambda()
}

// A poll carries the asker's rates and the answer the other's: after one, both know of both, and both solve the same
// LP. Who was not asked knows of neither [1, section 4.2].
func TestMutualFeedback(t *testing.T) {
	const a, b, third = 4, 2, 0 // class 1 goes to machines 3 and 5: machine 5 asks 3, and itself
	e := shifted(t, 0, a, b)
	before, other := e.solved(b), e.solved(third)
	e.now = 1
	e.push.place(e, task{since: 1, size: 1, class: 0}, a)
	if !e.knows(a, b) {
		t.Error("the asker does not know the rates of whom it asked")
	}
	if !e.knows(b, a) {
		t.Error("who was asked does not know the rates of the asker")
	}
	if e.knows(third, a) || e.knows(third, b) {
		t.Error("who was not asked knows of rates that nobody told it")
	}
	x, y := e.solved(a), e.solved(b)
	if math.Abs(x-y) > 1e-9 || !(y < before) {
		t.Errorf("asker and asked have lambda %.4f and %.4f, before %.4f: want the same, and less", x, y, before)
	}
	if got := e.solved(third); got != other {
		t.Errorf("who was not asked solves for %.4f: want %.4f as before", got, other)
	}
}

// With a delay the asker's rates arrive with the poll, and the other's with the answer.
func TestMutualFeedbackIsLate(t *testing.T) {
	const a, b = 4, 2
	e := shifted(t, 0.5, a, b)
	e.push.place(e, task{size: 1, class: 0}, a)
	if e.knows(a, b) || e.knows(b, a) {
		t.Error("rates are known before a message has arrived")
	}
	e.now = 0.5
	e.push.land(e)
	if !e.knows(b, a) || e.knows(a, b) {
		t.Errorf("with the poll: asked knows asker %v, asker knows asked %v; want true, false", e.knows(b, a), e.knows(a, b))
	}
	e.now = 1
	e.push.land(e)
	if !e.knows(a, b) {
		t.Error("the asker does not know what the answer said")
	}
}

// Where all are asked the answers are the view, and rates go both ways all the same.
func TestFeedbackWhereAllAreAsked(t *testing.T) {
	const a, b = 4, 2
	s := system4A(false)
	e := mustEngine(t, s, "kpb:7")
	for _, j := range []int{a, b} {
		e.rates.mu[j*e.n] *= 0.5
		e.news(j)
	}
	e.push.place(e, task{size: 1, class: 0}, a)
	if !e.knows(a, b) || !e.knows(b, a) {
		t.Errorf("asker knows asked %v, asked knows asker %v; want both", e.knows(a, b), e.knows(b, a))
	}
}
