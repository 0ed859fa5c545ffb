package queueing

import "testing"

// What ran when its machine failed goes back to the head of its class with the age that it has [1, section 3.1].
func TestALostTaskIsFirstAgain(t *testing.T) {
	s := simple(0.5, 1, 1)
	s.Failures = []Failures{{Rate: 1e-6, MeanFault: 1}}
	e := mustEngine(t, s, "fcfs")
	for k := range 3 {
		e.now = float64(k)
		e.books.inside++
		e.pull.arrive(e, task{since: e.now, size: 100})
	}
	e.now = 5
	e.flip(0)
	q := &e.pull.queues[0]
	if q.n != 3 || e.pull.queued != 3 {
		t.Fatalf("%d tasks wait and %d are counted, want 3", q.n, e.pull.queued)
	}
	for k := range 3 {
		if got := q.pop().since; got != float64(k) {
			t.Errorf("task %d of the queue came at %g, want %d", k+1, got, k)
		}
	}
}

// Where tasks queue at machines the one that ran stays first, and begins anew with a time of its own.
func TestALostTaskBeginsAnew(t *testing.T) {
	s := simple(0.5, 1, 1)
	s.Failures = []Failures{{Rate: 1e-6, MeanFault: 1}}
	e := mustEngine(t, s, "mct")
	m := &e.machines[0]
	for k := range 2 {
		e.push.enter(e, 0, task{since: float64(k), size: 3})
	}
	e.now = 2
	e.flip(0)
	again := m.queue.first().size
	if since := m.queue.first().since; m.queue.n != 2 || since != 0 || again == 3 {
		t.Errorf("%d tasks, the first of %g and with size %g: want 2, of 0, and another size than 3", m.queue.n, since, again)
	}
	e.now = 7
	if e.flip(0); m.done != 7+again {
		t.Errorf("up again at 7 the task is done at %g: want all of it after, at %g", m.done, 7+again)
	}
}
