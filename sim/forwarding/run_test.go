package forwarding

import (
	"math"
	"slices"
	"testing"

	"skep/discovery"
)

// small is a world of 200 nodes and 100 types that is soon run.
func small(change func(*Setting)) Setting {
	s := Defaults()
	s.Seed, s.Nodes, s.Types, s.Requests = 3, 200, 100, 6000
	if change != nil {
		change(&s)
	}
	return s
}

func run(t *testing.T, s Setting) *Result {
	t.Helper()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	r, ok := Run(s, nil)
	if !ok {
		t.Fatal("it ended early")
	}
	return r
}

// A random walk meets what one node in 1/p has after about 1/p hops [1], and a request for it takes as many messages
// and an answer.
func TestRandomWalkTakesOneOverDensity(t *testing.T) {
	r := run(t, small(func(s *Setting) { s.Discovery.Forward, s.Types, s.Each, s.Requests = "random_walk", 20, 2, 4000 }))
	w := &r.Second
	if h := w.MeanHops(); math.Abs(h-10) > 2 {
		t.Errorf("%.2f hops to what a tenth of the nodes has, want about 10", h)
	}
	if w.Requests != 2000 || w.Success() < 0.97 {
		t.Errorf("%d requests, %.3f met", w.Requests, w.Success())
	}
	if x := w.PerRequest() - float64(w.Finds)/float64(w.Requests); math.Abs(x-1) > 0.01 {
		t.Errorf("%.3f messages for each request beside its walk, want one answer", x)
	}
}

// Each strategy does what [1] says of it: learning finds sooner by far, whatever the distribution; best neighbour where
// few hold most, and puts nearly everything on them.
func TestStrategies(t *testing.T) {
	of := func(forward string, rich bool) *Result {
		return run(t, small(func(s *Setting) { s.Discovery.Forward, s.Rich, s.Requests = forward, rich, 12_000 }))
	}
	walk, learned, best, both := of("random_walk", true), of("learning", true), of("best_neighbour", true),
		of("learning_best_neighbour", true)
	for name, r := range map[string]*Result{"walk": walk, "learning": learned, "best": best, "both": both} {
		t.Logf("%s: %.2f hops, success %.3f, busiest tenth %.2f", name, r.Second.MeanHops(), r.Second.Success(), r.Busiest)
	}
	if x := learned.Second.MeanHops() / walk.Second.MeanHops(); x > 0.25 || learned.Second.Success() < 0.99 {
		t.Errorf("learning takes %.2f of the hops of a random walk, success %.3f", x, learned.Second.Success())
	}
	if x := best.Second.MeanHops() / walk.Second.MeanHops(); x > 0.5 || best.Busiest < 0.8 {
		t.Errorf("best neighbour takes %.2f of the hops where few hold most, %.2f of the messages on a tenth", x,
			best.Busiest)
	}
	if both.Second.MeanHops() > learned.Second.MeanHops() {
		t.Errorf("both take %.2f hops, learning alone %.2f", both.Second.MeanHops(), learned.Second.MeanHops())
	}
}

func TestSameSeedSameResult(t *testing.T) {
	s := small(func(s *Setting) { s.Discovery = discovery.Defaults(); s.Calls, s.View, s.Requests = true, 20, 2000 })
	a, b := run(t, s), run(t, s)
	if *a != *b {
		t.Errorf("%+v and then %+v", a, b)
	}
	s.Seed++
	if c := run(t, s); *a == *c {
		t.Error("another seed gives the same")
	}
}

// What one node has is found by a call, and by the ads of those near it with fewer calls.
func TestRareIsFoundByCalls(t *testing.T) {
	rare := func(calls bool, view int) *Window {
		r := run(t, small(func(s *Setting) {
			s.Discovery = discovery.Defaults()
			s.Types, s.Requests, s.Rare, s.Once, s.Calls, s.View, s.Discovery.Retries = 100, 100, 1, true, calls, view, 1
		}))
		return &r.Second
	}
	alone, call, ads := rare(false, 0), rare(true, 0), rare(true, 40)
	if alone.Success() > 0.5 || call.Success() < 0.98 || ads.Success() < 0.98 || ads.Calls >= call.Calls {
		t.Errorf("met: %.2f by walks alone, %.2f with calls, %.2f with ads too; %d and %d calls",
			alone.Success(), call.Success(), ads.Success(), call.Calls, ads.Calls)
	}
}

func TestWorld(t *testing.T) {
	s := small(func(s *Setting) { s.Rich = true })
	w := newWorld(&s)
	links, held := 0, []int{}
	for i := range w.near {
		links += len(w.near[i])
		held = append(held, len(w.has[i]))
		if !slices.IsSorted(w.has[i]) || len(w.has[i]) == 0 {
			t.Errorf("node %d has %v", i, w.has[i])
		}
	}
	if d := float64(links) / 200; math.Abs(d-8) > 0.1 {
		t.Errorf("mean degree %.2f, want 8", d)
	}
	slices.Sort(held)
	few, all := 0, 0
	for i, n := range held {
		all += n
		if i >= 180 {
			few += n
		}
	}
	if x := float64(few) / float64(all); x < 0.6 || x > 0.8 {
		t.Errorf("a tenth of the nodes holds %.2f of all, want about 0.72", x)
	}
}

func TestBadSettingNamesEachProblem(t *testing.T) {
	s := Setting{Nodes: 2, Degree: 1, Requests: 5, Once: true, Types: 4}
	err := s.Check()
	if u, ok := err.(interface{ Unwrap() []error }); !ok || len(u.Unwrap()) < 6 {
		t.Errorf("problems %v; want each named", err)
	}
}
