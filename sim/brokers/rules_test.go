package brokers

import (
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"skep/balance"
	"skep/grid"
)

// A resource against one that keeps every job and looks at all of them.
func TestResourceAgainstATwin(t *testing.T) {
	var r resource
	type span struct{ start, end float64 }
	var twin []span
	now := 0.0
	for k := range 2000 {
		now += float64(k*7919%101) / 10
		demand := float64(k*104729%97+1) / 11
		free := now
		if n := len(twin); n > 0 {
			free = max(now, twin[n-1].end)
		}
		var s balance.State
		r.tell(now, demand, &s)
		here, ran, rest := 0, 0.0, 0.0
		for _, x := range twin[max(0, len(twin)-200):] {
			if x.end > now {
				if here == 0 {
					ran, rest = now-x.start, x.end-now
				}
				here++
			}
		}
		if got := int(s.Waiting + s.Running); got != here || math.Abs(s.ECT-(free-now+demand)) > 1e-6 ||
			math.Abs(s.Ran-ran) > 1e-6 || math.Abs(s.Rest-rest) > 1e-6 {
			t.Fatalf("job %d: %+v, want %d jobs, done in %g, %g behind and %g left", k, s, here, free-now+demand, ran, rest)
		}
		twin = append(twin, span{free, free + demand})
		if got := r.take(now, demand); math.Abs(got-(free+demand)) > 1e-6 {
			t.Fatalf("job %d: done at %g, want %g", k, got, free+demand)
		}
	}
}

// Long jobs that are declared short stand before all short ones. Stopped at the bound of their class and placed anew
// as what they are, they do not.
func TestDemotion(t *testing.T) {
	s := usual("S|S|L|L")
	s.Mistaken = 0.2
	free := simulate1(t, s, 0.02, 20_000, 4, "cb_lis")
	s.Classes[0].Bound = 80
	bound := simulate1(t, s, 0.02, 20_000, 4, "cb_lis")
	short := func(x *Run) float64 { return x.ByClass[0] }
	if a, b := average(&free[0], short), average(&bound[0], short); b > 0.7*a {
		t.Errorf("short jobs take %g s with a bound and %g s without, want much less", b, a)
	}
	jobs := float64(4 * 24_000)
	if n := 4 * average(&bound[0], func(x *Run) float64 { return float64(x.Demoted) }); n < 0.008*jobs || n > 0.012*jobs {
		t.Errorf("%g jobs demoted of %g, want a hundredth", n, jobs)
	}
	if free[0].Runs[0].Demoted != 0 {
		t.Error("jobs are demoted without a bound")
	}
}

// An overloaded class spills over: at a rate at which the one S is full, jobs of S use idle resources of L.
func TestSpillOver(t *testing.T) {
	r := simulate1(t, usual("S|L|L"), 0.0225, 30_000, 4, "cb_lis", "cb_spill", "mct")
	kept, spilt, mct := average(&r[0], w), average(&r[1], w), average(&r[2], w)
	if spilt > kept/4 || spilt > 1.1*mct {
		t.Errorf("W %.0f s kept apart, %.0f s with spill-over, mct %.0f s: want at most a tenth more than the last", kept,
			spilt, mct)
	}
	r = simulate1(t, usual("S|S|L|L"), 0.02, 30_000, 4, "cb_lis", "cb_spill")
	if a, b := average(&r[0], w), average(&r[1], w); a != b {
		t.Errorf("W %g s and %g s where no class is overloaded, want the same", a, b)
	}
}

// A class that nobody serves is turned away and counted, and the run ends all the same.
func TestNobodyServes(t *testing.T) {
	r := simulate1(t, usual("S|S"), 0.005, 1000, 1, "cb_rr", "cb_lis")
	for _, x := range r {
		if n := x.Runs[0].Rejected; n < 30 || n > 120 || !math.IsNaN(x.Runs[0].ByClass[1]) {
			t.Errorf("%s: %d turned away of some 1200, want one in twenty", x.Policy, n)
		}
	}
}

// All that is wrong is told at once.
func TestSystemSaysAllThatIsWrong(t *testing.T) {
	_,
		err := Read("s.yaml",
		[]byte("clusters: [[a, x], []]\nclasses:\n  - {name: a, part: 0.5, demand: [9, 3]}\n  - {name: a, part: -1, "+
			"demand: [1, 2], bound: 5}\ndelays: {discovery: -1}\nmistaken: 2\n"))
	for _, want := range []string{"s.yaml: ", `clusters[0][1]: class "x"`, "clusters[1]: has no resource",
		"classes[0].demand: [9, 3]", `classes[1].name: "a"`,
		"classes[1].part: -1", "classes[1].bound: 5", "parts sum to -0.5", "delays.discovery: -1", "mistaken: 2"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("does not say %q: %v", want, err)
		}
	}
	if _, err := Read("s.yaml", []byte("cluster: []\n")); err == nil || !strings.Contains(err.Error(), "unknown field") {
		t.Errorf("unknown key: %v", err)
	}
	o := Options{Policies: []string{"best"}, Rate: math.NaN(), Warmup: -1}
	if err := o.Check(); err == nil || strings.Count(err.Error(), "\n") != 4 {
		t.Errorf("options: %v, want five problems", err)
	}
}

// A resource tells its state as it is when the question has arrived there, and not as it was when it was asked.
func TestStateIsThatOfWhenItIsRead(t *testing.T) {
	s := usual("S|L")
	s.Delays = Delays{Discovery: 1, Inside: 0.1, Between: 10}
	e, err := newEngine(s, "mct", &Options{Policies: []string{"mct"}, Rate: 1, Jobs: 1, Seed: 1}, 0, new(atomic.Bool))
	if err != nil {
		t.Fatal(err)
	}
	x := &job{demand: 5, task: grid.Task{Class: "S"}}
	e.place(x)
	for e.agenda.due.Len() > 0 {
		at, h := e.agenda.due.Pop()
		if e.now = at; h.what == decide {
			break
		}
		e.happen(h)
		if h.what == read { // the near one is read at 1.3 s, the far one at 31 s
			e.resources[1].take(20, 100)
		}
	}
	if len(x.answers) != 2 || x.answers[0].Ready != 0 || math.Abs(x.answers[1].Ready-89) > 1e-9 {
		t.Errorf("answers %+v: want two, the far one ready in 89 s, since 100 s of work came at 20 s", x.answers)
	}
}
