package rates

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"skep/grid"
)

func measuring() *Estimator {
	return new(New(Config{Speed: 1, ArrivalMemory: time.Minute, Scratch: new(Scratch)}))
}

// nobody is the claims of a network in which nobody has measured anything.
func nobody(_ string, _ bool, dst []float64) []float64 { return dst }

// claimed returns claims that are the same for each class.
func claimed(proven, others []float64) StatedRates {
	return func(_ string, only bool, dst []float64) []float64 {
		if dst = append(dst, proven...); !only {
			dst = append(dst, others...)
		}
		return dst
	}
}

var job = &grid.JobSpec{Command: []string{"x"}}

// The estimated arrival rate does not depend on the number of runs here: a node without submissions that runs much of
// the class must not look busy with submissions.
func TestRunsDoNotDelayArrivalDecay(t *testing.T) {
	e, fx, now := measuring(), &grid.Effects{}, grid.Time(1)
	e.Arrive(now, "a", job, 1)
	for range 600 {
		now = now.Add(time.Second)
		e.Ran(now, "a", 1, fx)
	}
	if a := e.alpha(now, e.Class("a")); a > 1e-4 {
		t.Errorf("one arrival 10 min ago, and a run each second since: %g arrivals per second, want next to none", a)
	}
}

// A steady stream of arrivals is estimated at its rate, from its first seconds on.
func TestArrivalRateIsThatOfTheStream(t *testing.T) {
	for _, seconds := range []int{10, 60, 600} {
		e, now := measuring(), grid.Time(1)
		for range seconds {
			e.Arrive(now, "a", job, 2)
			now = now.Add(time.Second)
		}
		if a := e.alpha(now, e.Class("a")); math.Abs(a-2) > 0.1 {
			t.Errorf("2 arrivals a second for %d s are estimated as %g", seconds, a)
		}
	}
}

// Class names made up by workers evict each other, not classes measured or submitted here.
func TestForeignClassesAreBounded(t *testing.T) {
	e := measuring()
	for i := range maxClasses - maxForeignClasses {
		e.Arrive(1, fmt.Sprint("class", i), job, 1)
	}
	for i := range 1000 {
		e.ArriveForeign(grid.Time(i+2), fmt.Sprint("x", i), job)
	}
	for i := range maxClasses - maxForeignClasses {
		if e.Class(fmt.Sprint("class", i)) == nil {
			t.Fatalf("class%d was evicted", i)
		}
	}
	if len(e.classes) != maxClasses || e.Class("x999") == nil {
		t.Errorf("%d classes", len(e.classes))
	}
}

// More classes than are published do not make a new version of the rates at each publication.
func TestManyClassesDoNotRepublish(t *testing.T) {
	e, fx, now := measuring(), &grid.Effects{}, grid.Time(1)
	for range 2 { // long ago, and now
		for i := range 30 {
			e.Arrive(now, string(rune('a'+i)), job, 100)
			e.Ran(now, string(rune('a'+i)), 1, fx)
		}
		now = now.Add(10 * time.Minute)
	}
	now = now.Add(-10 * time.Minute)
	e.Publish(now)
	own, first := e.Published()
	others := func(r grid.Rate) bool { return r.Class == grid.OtherClass }
	if len(own) != grid.MaxRates || !slices.ContainsFunc(own, others) {
		t.Errorf("publishes %d rates of 30 classes, want %d, one of them for the other classes", len(own), grid.MaxRates)
	}
	for range 5 {
		now = now.Add(time.Second)
		e.Publish(now)
	}
	if _, v := e.Published(); v > first+1 {
		t.Errorf("%d versions in 5 s in which arrivals fell by 8 %%", v-first)
	}
}

// Rates that are given are published and kept, whatever happens.
func TestGivenRatesAreKept(t *testing.T) {
	given := []grid.Rate{{Class: "long", Alpha: 0.5, Mu: 0.25}, {Class: "short", Alpha: 3, Mu: 4}}
	e := new(New(Config{Given: given, Speed: 1, ArrivalMemory: time.Minute, Scratch: new(Scratch)}))
	fx, now := &grid.Effects{}, grid.Time(1)
	for range 50 {
		e.Ran(now, "long", 100, fx)
		e.Moved(10, time.Second, 1e6)
		e.Arrive(now, "long", job, 1)
		now = now.Add(time.Second)
		e.Publish(now)
	}
	own, version := e.Published()
	mean, _ := e.RunTime("long", nobody)
	if !slices.Equal(own, given) || version != 1 || mean != 4 || e.Overhead(time.Second, 1e6) != 0 || len(fx.Saves) > 0 {
		t.Errorf("learned: %v, version %d, %g s, overhead %g s, %d records", own, version, mean, e.Overhead(time.Second, 1e6),
			len(fx.Saves))
	}
}

// distributions of run times with a mean of 10 s.
var distributions = map[string]struct {
	draw      func(r *grid.Rand) float64
	low, high float64 // bounds of the squared coefficient of variation that a node shall measure
}{
	"deterministic": {func(*grid.Rand) float64 { return 10 }, 0, 0},
	"uniform":       {func(r *grid.Rand) float64 { return 20 * r.Float64() }, 0.25, 0.55}, // 1/3
	"exponential":   {func(r *grid.Rand) float64 { return -10 * math.Log(1-r.Float64()) }, 0.75, 1},
}

// The variation of run times is measured from the runs, whether the means are measured or given.
func TestRunTimeVariationIsLearned(t *testing.T) {
	for _, given := range [][]grid.Rate{nil, {{Class: "c", Mu: 0.1}}} {
		for name, x := range distributions {
			e := new(New(Config{Given: given, Speed: 1, ArrivalMemory: time.Minute, Scratch: new(Scratch)}))
			chance, sum := grid.NewRand(1, 1), 0.0
			const runs, first = 400, 100
			for i := range runs {
				e.Ran(1, "c", x.draw(chance), &grid.Effects{})
				if _, scv := e.RunTime("c", nobody); i >= first {
					sum += scv / (runs - first)
				}
			}
			if sum < x.low || sum > x.high {
				t.Errorf("%s, given %v: c² is on average %.3f, want %g to %g", name, given, sum, x.low, x.high)
			}
		}
	}
}

// A class's record is written when its mean has changed enough, and restores what was measured; records of evicted
// classes and of names that must not be published are deleted with the next.
func TestRecordsOfClasses(t *testing.T) {
	e, fx := measuring(), &grid.Effects{}
	e.Ran(1, "a", 2, fx)
	e.Ran(1, "a", 2.1, fx)
	if len(fx.Saves) != 1 {
		t.Fatalf("%d records of two runs of nearly the same time, want 1", len(fx.Saves))
	}
	e.Ran(1, "a", 20, fx)
	rec := fx.Saves[len(fx.Saves)-1].Class
	mean, scv := e.RunTime("a", nobody)
	again := measuring()
	again.Restore(&rec)
	again.Restore(&grid.ClassRecord{Class: "old", Mean: 2, Count: 5}) // as older versions wrote it
	again.Restore(&grid.ClassRecord{Class: "\n", Mean: 1, Count: 1})
	if m, c := again.RunTime("a", nobody); m != mean || c != scv || scv == 0 {
		t.Errorf("restored mean %g and c² %g, before %g and %g", m, c, mean, scv)
	}
	if m, c := again.RunTime("old", nobody); m != 2 || c != 0 || again.Class("\n") != nil {
		t.Errorf("an old record gives %g and %g, want 2 and 0; the unpublishable name %v", m, c, again.Class("\n"))
	}
	fx.Reset()
	again.Ran(1, "b", 1, fx)
	if len(fx.Saves) != 2 || !fx.Saves[0].Delete || fx.Saves[0].Class.Class != "\n" || fx.Saves[1].Class.Class != "b" {
		t.Errorf("saves %+v, want the unpublishable name deleted and the record of b", fx.Saves)
	}
	fx.Reset()
	for i := range maxClasses {
		e.Ran(grid.Time(i+2), fmt.Sprint("c", i), 1, fx)
	}
	if !slices.ContainsFunc(fx.Saves, func(r grid.Record) bool { return r.Delete && r.Class.Class == "a" }) {
		t.Error("the record of the least recently used class stays on disk")
	}
}

// The typical rate is the median over this node and the proven ones; claims of others count only where these have
// measured nothing.
func TestTypicalRateIsTheMedian(t *testing.T) {
	for name, c := range map[string]struct {
		here           float64 // mean run time on this node of speed 2; 0 = not measured
		proven, others []float64
		want           float64
	}{
		"nobody":                    {0, nil, nil, 0},
		"others only":               {0, nil, []float64{9, 1, 5}, 5},
		"others are not heard":      {0, []float64{2}, []float64{9, 9, 9}, 2},
		"this node":                 {0.25, nil, []float64{9}, 2},
		"this node and the proven":  {0.25, []float64{1, 3}, []float64{9}, 2},
		"the lower of an even many": {0, []float64{4, 3}, nil, 3},
	} {
		e := new(New(Config{Speed: 2, ArrivalMemory: time.Minute, Scratch: new(Scratch)}))
		if c.here > 0 {
			e.Ran(1, "a", c.here, &grid.Effects{})
		}
		if got := e.Typical("a", claimed(c.proven, c.others)); got != c.want {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}

// The typical rate of a row is computed once, until the rows are set again. Rows are what this node publishes, what was
// submitted here and what peers publish.
func TestRowsKeepTheirTypicalRate(t *testing.T) {
	e, now := measuring(), grid.Time(1)
	e.Arrive(now, "submitted", job, 1)
	e.Ran(now, "ran", 1, &grid.Effects{})
	e.Ran(now, "both", 1, &grid.Effects{})
	set := func() {
		e.ResetRows()
		e.AddRows([]grid.Rate{{Class: "both"}, {Class: "peer"}})
	}
	set()
	var got []string
	for _, m := range e.Rows() {
		got = append(got, fmt.Sprint(m.Class, " ", m.Here != nil, " ", m.Here.Spec() != nil))
	}
	if want := []string{"both true false", "peer false false", "submitted true true"}; !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
	three, four := claimed([]float64{3}, nil), claimed([]float64{4}, nil)
	if a, b := e.Typical("peer", three), e.Typical("peer", four); a != 3 || b != 3 {
		t.Errorf("typical rates %g and %g of a row, want 3 twice", a, b)
	}
	if a, b := e.Typical("no row", three), e.Typical("no row", four); a != 3 || b != 4 {
		t.Errorf("typical rates %g and %g of a class in no row, want 3 and 4", a, b)
	}
	set()
	if a := e.Typical("peer", four); a != 4 {
		t.Errorf("typical rate %g after the rows were set again, want 4", a)
	}
}

// Results teach the run time to expect on any worker, from the third on.
func TestExpectedRunTime(t *testing.T) {
	e, known := measuring(), claimed([]float64{0.5}, nil)
	e.Arrive(1, "a", job, 1)
	for i, want := range []float64{2, 2, 2, 10} {
		if got := e.Expected("a", known); got != want || e.Class("a").Known() != (i == minEnds) {
			t.Errorf("after %d results %g s, known %v: want %g s", i, got, e.Class("a").Known(), want)
		}
		e.Ended("a", 10)
	}
	if c := e.Class("a").EndVariation(); c != 1 {
		t.Errorf("variation %g from 4 results, want 1", c)
	}
	for range minVariationEnds {
		e.Ended("a", 10)
	}
	if c := e.Class("a").EndVariation(); c != 0 {
		t.Errorf("variation %g of equal results, want 0", c)
	}
	if got := e.Expected("b", nobody); got != 0 {
		t.Errorf("a class that nobody has run: %g s, want 0", got)
	}
	slow := new(New(Config{Speed: 0.5, ArrivalMemory: time.Minute, Scratch: new(Scratch)}))
	if got := slow.MinRunTime("b", nobody); got != Prior {
		t.Errorf("the least run time is %g s on a slow node, want %g as on the reference machine", got, Prior)
	}
}

// The cost of a move is bounded by what was measured before: one result teaches little.
func TestMoveCostRisesSlowly(t *testing.T) {
	e := measuring()
	e.Moved(1e6, 0, 0)
	if x := e.Overhead(0, 0); x != firstOverhead {
		t.Errorf("the first result teaches %g s, want %g", x, firstOverhead)
	}
	e.Moved(1e6, 0, 0)
	if x := e.Overhead(0, 0); x > 2*firstOverhead {
		t.Errorf("the second result teaches %g s", x)
	}
	for range 1000 {
		e.Moved(1e6, 0, 0)
	}
	if x := e.Overhead(0, 0); x > maxOverhead {
		t.Errorf("%g s are believed, want at most %g", x, maxOverhead)
	}
}

// The cost of a move belongs to the node and to the bytes: what far nodes and large inputs cost is not charged to near
// nodes and to tasks without inputs.
func TestMoveCostBelongsToLinkAndBytes(t *testing.T) {
	e := measuring()
	const far, mib = 200 * time.Millisecond, 1 << 20
	for range 200 {
		e.Moved(0.21, far, 0)     // 10 ms besides the round trip
		e.Moved(2.01, 0, 200*mib) // 2 s for 200 MiB
		e.Moved(0.01, 0, 0)
	}
	for _, c := range []struct {
		rtt   time.Duration
		bytes float64
		want  float64
	}{{0, 0, 0.01}, {far, 0, 0.21}, {0, 200 * mib, 2.01}, {0, 20 * mib, 0.21}} {
		if got := e.Overhead(c.rtt, c.bytes); got < 0.95*c.want || got > 1.05*c.want {
			t.Errorf("a move over %v with %g bytes is believed to cost %g s, want %g", c.rtt, c.bytes, got, c.want)
		}
	}
}

// Whatever may change a column is reported once.
func TestChangesAreReportedOnce(t *testing.T) {
	e, fx, now := measuring(), &grid.Effects{}, grid.Time(1e9)
	if !e.TakeChange() || e.TakeChange() {
		t.Error("want one change at the beginning")
	}
	e.Arrive(now, "a", job, 1)
	if !e.TakeChange() || e.TakeChange() {
		t.Error("a new class: want one change")
	}
	e.Ran(now, "a", 1, fx)
	if !e.TakeChange() || e.TakeChange() {
		t.Error("a run: want one change")
	}
	e.Publish(now)
	if !e.TakeChange() || e.TakeChange() {
		t.Error("rates published: want one change")
	}
	e.Ended("a", 1)
	e.Arrive(now, "a", job, 1)
	if e.TakeChange() {
		t.Error("a result and a further arrival are reported as a change of the rates")
	}
}

// Results that take far longer than the mean, three in a row, are a new mean; two are not, nor are any that come now
// and then.
func TestRunTimeJumps(t *testing.T) {
	e, stated := measuring(), claimed(nil, nil)
	e.Arrive(1, "a", job, 1)
	for i := range 100 {
		if changed := e.Ended("a", 1); changed != (i == minEnds-1) {
			t.Fatalf("after %d results changed = %v", i+1, changed)
		}
	}
	for range 10 {
		for _, took := range []float64{9, 9, 0.5} {
			if e.Ended("a", took) {
				t.Fatal("two long results are a jump")
			}
		}
	}
	for range 100 {
		e.Ended("a", 1)
	}
	for range 2 {
		if e.Ended("a", 40) {
			t.Error("one or two results are a jump")
		}
	}
	if !e.Ended("a", 40) || e.Expected("a", stated) != 40 {
		t.Errorf("%g s are expected after three results of 40", e.Expected("a", stated))
	}
}
